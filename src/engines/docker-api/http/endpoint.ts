/** Where an engine's API is reached. */
export type Endpoint = SocketEndpoint | TcpEndpoint;

/** A unix socket, or a Windows pipe written `//./pipe/name`. */
export interface SocketEndpoint {
  readonly kind: "socket";
  readonly path: string;
  /** Who named it, in the words of error messages: `the default socket`, `DOCKER_HOST`. */
  readonly origin: string;
}

export interface TcpEndpoint {
  readonly kind: "tcp";
  readonly host: string;
  readonly port: number;
  /** Null: plain HTTP. */
  readonly tls: TlsMaterial | null;
  readonly origin: string;
}

/** PEM texts of a TLS connection. */
export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Whether the engine's certificate must be valid. */
  readonly verify: boolean;
}
