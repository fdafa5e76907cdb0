import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** A port of a program, and where it is reachable on this machine. */
export interface OpenPort {
  readonly port: number;
  /** Of a listener on loopback, only for this port of this program. */
  readonly url: string;
}

/** Connects to a port of the program. @throws NETWORK_ERROR if nothing listens there */
export type ConnectPort = (port: number, signal: AbortSignal) => Promise<Duplex>;

/** Maximum concurrent connections to all ports of one program; further ones are closed immediately. */
const maxConnections = 100;
/** How long a connection waits for the program to listen, so that a browser can be opened right away. */
const waitMs = 5_000;
const retryMs = 100;
const address = "127.0.0.1";

/**
 * Our listeners on loopback, one for each port of a program, each with its own port number. Bytes are relayed unchanged
 * in both directions, as fast as the slower end takes them, so any protocol over TCP works.
 */
export class PortRelays {
  readonly ports: readonly OpenPort[];
  readonly #servers: readonly Server[];
  readonly #connect: ConnectPort;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();

  static async open(ports: readonly number[], connect: ConnectPort): Promise<PortRelays> {
    const servers: Server[] = [];
    const open: OpenPort[] = [];
    try {
      for (const port of ports) {
        const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
        servers.push(server);
        await once(server.listen({ host: address, port: 0, exclusive: true }), "listening");
        open.push({ port, url: `http://${address}:${(server.address() as AddressInfo).port}` });
      }
    } catch (error) {
      for (const server of servers) server.close();
      throw error;
    }
    return new PortRelays(open, servers, connect);
  }

  private constructor(ports: readonly OpenPort[], servers: readonly Server[], connect: ConnectPort) {
    this.ports = ports;
    this.#servers = servers;
    this.#connect = connect;
    for (const [index, { port }] of ports.entries()) {
      servers[index]?.on("connection", (socket) => void this.#serve(port, socket));
    }
  }

  /** Closes the listeners and cuts their connections. */
  close(): void {
    this.#closing.abort();
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(port: number, socket: Socket): Promise<void> {
    socket.on("error", () => {
      // Its close follows.
    });
    if (this.#closing.signal.aborted || this.#sockets.size >= maxConnections) return void socket.destroy();
    this.#sockets.add(socket);
    const gone = new AbortController();
    socket.once("close", () => {
      this.#sockets.delete(socket);
      gone.abort();
    });
    const inside = await this.#dial(port, AbortSignal.any([gone.signal, this.#closing.signal]));
    if (inside === null) socket.destroy();
    else if (socket.destroyed) inside.destroy();
    else join(socket, inside);
  }

  /** Null if nothing listens in time, or it is too late for another reason. */
  async #dial(port: number, signal: AbortSignal): Promise<Duplex | null> {
    const late = AbortSignal.timeout(waitMs);
    for (;;) {
      try {
        return await this.#connect(port, signal);
      } catch (error) {
        if (signal.aborted || late.aborted || !isRefused(error)) return null;
        await sleep(retryMs);
      }
    }
  }
}

/** Whether a connection failed because nothing listens on the port. */
export function isRefused(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "NETWORK_ERROR" && error.context["reason"] === "refused";
}

function join(socket: Socket, inside: Duplex): void {
  inside.on("error", () => {
    // Its close follows.
  });
  for (const [from, to] of [
    [socket, inside],
    [inside, socket],
  ] as const) {
    from.pipe(to);
    from.once("close", () => {
      if (from.readableEnded) endSoon(to);
      else to.destroy();
    });
  }
}

/** Ends a stream whose other end is gone, once everything has been written. */
function endSoon(stream: Duplex): void {
  const destroy = (): void => void stream.destroy();
  if (stream.writableFinished) destroy();
  else stream.end().once("finish", destroy);
}
