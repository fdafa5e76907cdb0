import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** One CONNECT request to a proxy. */
export interface AskedTunnel {
  /** Such as `93.184.216.34:443`. */
  readonly authority: string;
  /** Alternating names and values. */
  readonly fields: readonly string[];
}

export interface UpstreamProxyOptions {
  /** Loopback ports that stand in for hosts of the internet, by the requested authority. */
  readonly world: (authority: string) => number | undefined;
  /** `USER:PASSWORD` that it demands. */
  readonly credentials?: string;
  /** Speaks TLS itself, with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** An HTTP proxy on loopback like those of companies: it serves CONNECT, demands a password and records the requests. */
export class UpstreamProxy implements Disposable {
  readonly #options: UpstreamProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly asked: AskedTunnel[] = [];
  /** The number of connections to it, whatever they requested. */
  connections = 0;

  static async start(options: UpstreamProxyOptions): Promise<UpstreamProxy> {
    const server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
    const proxy = new UpstreamProxy(server, options);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  private constructor(server: Server, options: UpstreamProxyOptions) {
    this.#server = server;
    this.#options = options;
    server.on("connection", (socket) => {
      this.connections++;
      this.#keep(socket);
    });
    server.on("connect", (request: IncomingMessage, near: Duplex, first: Buffer) =>
      this.#connect(request, near, first),
    );
    // A program that talks to it as if it were a web server also gets through, unless something prevents that.
    server.on("request", (_, response) => response.end("THE UPSTREAM PROXY ITSELF"));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  forget(): void {
    this.asked.length = 0;
    this.connections = 0;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #connect(request: IncomingMessage, near: Duplex, first: Buffer): void {
    this.#keep(near);
    const authority = request.url ?? "";
    this.asked.push({ authority, fields: request.rawHeaders });
    const { credentials, world } = this.#options;
    const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
    if (request.headers["proxy-authorization"] !== expected) {
      return void near.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
    }
    const port = world(authority);
    if (port === undefined) return void near.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    const far: Socket = connect(port, "127.0.0.1", () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.write(first);
      near.pipe(far).pipe(near);
    });
    this.#keep(far);
    near.on("close", () => void far.destroy());
    far.on("close", () => void near.destroy());
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {
      // Its close follows.
    });
  }
}
