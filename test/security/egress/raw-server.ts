import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A server on loopback that keeps every byte it receives, per connection, and sends whatever answer it is told to. */
export class RawServer implements Disposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #connections: { bytes: Buffer }[] = [];

  static async start(answer: (head: string, socket: Socket) => void): Promise<RawServer> {
    const server = createServer({ allowHalfOpen: true });
    const raw = new RawServer(server, answer);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return raw;
  }

  private constructor(server: Server, answer: (head: string, socket: Socket) => void) {
    this.#server = server;
    server.on("connection", (socket) => {
      const own = { bytes: Buffer.alloc(0) };
      this.#connections.push(own);
      let isAnswered = false;
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("end", () => socket.end());
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("data", (bytes: Buffer) => {
        own.bytes = Buffer.concat([own.bytes, bytes]);
        if (isAnswered || !own.bytes.includes("\r\n\r\n")) return;
        isAnswered = true;
        answer(own.bytes.toString("latin1"), socket);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#connections.length;
  }

  /** What was received, one entry per connection. */
  get received(): readonly Buffer[] {
    return this.#connections.map(({ bytes }) => bytes);
  }

  forget(): void {
    this.#connections.length = 0;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Sends the pieces one after another, each separately, and then ends the connection. */
export function sendPieces(socket: Socket, pieces: readonly string[], staysOpen = false): void {
  const [first, ...others] = pieces;
  if (socket.destroyed) return;
  if (first === undefined) return void (staysOpen ? undefined : socket.end());
  socket.write(Buffer.from(first, "latin1"), () => void setTimeout(sendPieces, 2, socket, others, staysOpen));
}
