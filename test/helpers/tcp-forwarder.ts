import { once } from "node:events";
import net, { type AddressInfo } from "node:net";

/** A loopback port that leads to an engine's socket. */
export class TcpForwarder implements Disposable {
  readonly #server: net.Server;
  readonly #streams = new Set<net.Socket>();

  static async to(socketPath: string): Promise<TcpForwarder> {
    const forwarder = new TcpForwarder(socketPath);
    forwarder.#server.listen(0, "127.0.0.1");
    await once(forwarder.#server, "listening");
    return forwarder;
  }

  private constructor(socketPath: string) {
    // Each half is closed separately: a program's input ends before its output.
    this.#server = net.createServer({ allowHalfOpen: true }, (client) => {
      const engine = net.connect({ path: socketPath, allowHalfOpen: true });
      for (const stream of [client, engine]) {
        this.#streams.add(stream);
        stream.on("close", () => this.#streams.delete(stream));
        stream.on("error", () => [client, engine].forEach((each) => each.destroy()));
      }
      client.pipe(engine).pipe(client);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const stream of this.#streams) stream.destroy();
  }
}
