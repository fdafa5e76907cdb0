import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net, { type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** What happens around one request to an engine. */
export interface Meddling {
  /** Matches the request's first line, such as `POST /v1.41/containers/ab12/start HTTP/1.1`. */
  readonly at: RegExp;
  /** Called with that line right before the engine gets the request, and when it begins to answer. */
  readonly before: (line: string) => void;
  readonly after: () => void;
}

/** A socket in front of an engine's that changes things at the worst moment. */
export class MeddlingProxy implements AsyncDisposable {
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), "glovebox-proxy-"));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How often it has meddled. */
  count = 0;

  static async start(socketPath: string, meddling: Meddling): Promise<MeddlingProxy> {
    const proxy = new MeddlingProxy(socketPath, meddling);
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor(socketPath: string, meddling: Meddling) {
    // Either half may end before the other, as in an exec whose input has ended.
    this.#server = net.createServer({ allowHalfOpen: true }, (near) => this.#serve(near, socketPath, meddling));
    this.#server.listen(this.socketPath);
  }

  get socketPath(): string {
    return path.join(this.#folder, "engine.sock");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }

  #serve(near: Socket, socketPath: string, { at, before, after }: Meddling): void {
    const far = net.connect({ path: socketPath, allowHalfOpen: true });
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {
        // Its close follows.
      });
    }
    // A connection may carry one request after another; each of them begins a new chunk.
    near.on("data", (bytes: Buffer) => {
      const line = bytes.toString("latin1").split("\r\n")[0] ?? "";
      if (at.test(line)) {
        this.count++;
        before(line);
        far.once("data", after);
      }
      if (!far.write(bytes)) {
        near.pause();
        far.once("drain", () => near.resume());
      }
    });
    near.on("end", () => far.end());
    far.pipe(near);
    near.on("close", () => void far.destroy());
    far.on("close", () => void near.destroy());
  }
}
