import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { nothingListens } from "../../engines/port-errors.ts";

/** A port of a program, and where it is reachable on this machine. */
export interface OpenPort {
  readonly port: number;
  /** Of a listener on loopback, only for this port of this program. */
  readonly url: string;
}

/** Connects to a port of the program. @throws NETWORK_ERROR if nothing listens there */
type ConnectPort = (port: number, signal: AbortSignal) => Promise<Duplex>;

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

/**
 * Checks, before a program is started, that its ports can be reached and that no other program listens on them: all
 * programs of the sandbox share one loopback.
 * @throws UNSUPPORTED if ports cannot be reached, ALREADY_EXISTS if another program listens on one, CANCELLED
 */
export async function assertPortsFree(
  sandbox: Pick<Sandbox, "engineName" | "capabilities" | "connect">,
  ports: readonly number[],
  options: CallOptions,
): Promise<void> {
  if (ports.length === 0) return;
  if (sandbox.capabilities.execNetwork === "none") throw unreachable(sandbox);
  for (const port of ports) {
    try {
      (await sandbox.connect(port, options)).destroy();
    } catch (error) {
      if (isRefused(error)) continue;
      throw error;
    }
    throw new GloveboxError("ALREADY_EXISTS", `Another program of the sandbox listens on port ${port} already.`, {
      suggestion: "Choose another port, or end the other program first.",
      context: { field: "ports", port },
    });
  }
}

/** A started program, and where it runs. */
interface ConnectableProgram {
  readonly sandbox: Pick<Sandbox, "connect">;
}

/** Connects to a port of a program, once it has started. @throws NETWORK_ERROR if nothing listens */
export function connectToProgram(
  program: ConnectableProgram | null,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  return program === null ? Promise.reject(nothingListens(port)) : program.sandbox.connect(port, { signal });
}

/** Whether a connection failed because nothing listens on the port. */
function isRefused(error: unknown): boolean {
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

function unreachable({ engineName, capabilities }: Pick<Sandbox, "engineName" | "capabilities">): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engineName} cannot reach the ports of programs here.`, {
    suggestion: "Leave ports out, or choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { field: "ports", engine: engineName, missing: "execNetwork", isolation: capabilities.isolation },
  });
}
