import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net, { type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const defaultSocket = "unix:///var/run/docker.sock";

/** A socket in front of Docker's, which can stop answering as a hung daemon does: it still accepts connections. */
export class StoppingProxy implements AsyncDisposable {
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), "glovebox-proxy-"));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStopped = false;

  static async start(): Promise<StoppingProxy> {
    const target = (process.env["DOCKER_HOST"] ?? defaultSocket).replace("unix://", "");
    const proxy = new StoppingProxy(target);
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor(target: string) {
    // Either half may end before the other, as in an exec whose input has ended.
    this.#server = net.createServer({ allowHalfOpen: true }, (near) => this.#serve(near, target));
    this.#server.listen(path.join(this.#folder, "engine.sock"));
  }

  /** For `DOCKER_HOST`. */
  get address(): string {
    return `unix://${path.join(this.#folder, "engine.sock")}`;
  }

  /** From now on nothing comes through, in either direction. */
  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }

  #serve(near: Socket, target: string): void {
    this.#keep(near);
    if (this.#isStopped) return;
    const far = net.connect({ path: target, allowHalfOpen: true });
    this.#keep(far);
    near.pipe(far).pipe(near);
    near.on("close", () => void far.destroy());
    far.on("close", () => void near.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {
      // Its close follows.
    });
  }
}
