/** Where an engine's API is reached. */
export type Endpoint = SocketEndpoint | TcpEndpoint | SshEndpoint;

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

/** A machine that the user's own `ssh` connects to, and the engine that its command finds there. */
export interface SshEndpoint extends SshTarget {
  readonly kind: "ssh";
  readonly origin: string;
}

/** Left out: as the user's configuration of `ssh` says. */
export interface SshTarget {
  /** A host name, an address or an alias of that configuration. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** The engine's socket on that machine. */
  readonly socketPath?: string;
}

/** PEM texts of a TLS connection. */
export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Whether the engine's certificate must be valid. */
  readonly verify: boolean;
}
