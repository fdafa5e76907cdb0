import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { BaseNamespace } from "../namespaces/base-namespace.ts";
import { hostPath, type HostTools } from "../namespaces/host-tools.ts";

export interface NamespaceDialerOptions {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** Node of the host. */
  readonly nodePath: string;
  /** The container's network namespace. */
  readonly networkDescriptor: number;
}

interface Answer {
  readonly id: number;
  /** Node's error code when there is no connection. */
  readonly code?: string;
}

/**
 * What runs in the container's network namespace and in nothing else of it: it makes connections, hands them over and never
 * reads one. A server on `localhost` may be at either address; a connection to a free port may come from that very port,
 * and is none.
 */
const program = `
const { Socket } = require("node:net");
const dial = (id, port, [host, ...others]) => {
  const socket = new Socket({ allowHalfOpen: true }).pause();
  const fail = (code) => {
    socket.destroy();
    if (others.length > 0) dial(id, port, others);
    else process.send({ id, code });
  };
  socket.once("error", (error) => fail(String(error.code)));
  socket.connect(port, host, () => {
    if (socket.localPort === socket.remotePort) fail("ECONNREFUSED");
    else process.send({ id }, socket);
  });
};
process.on("message", ({ id, port }) => dial(id, port, ["127.0.0.1", "::1"]));
`;

/**
 * Makes connections inside the network namespace of one container and hands them to this process as real sockets, with
 * nothing in between.
 */
export class NamespaceDialer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Duplex | "refused" | "lost") => void>();
  #newest = 0;
  #isOver = false;

  constructor({ tools, base, nodePath, networkDescriptor }: NamespaceDialerOptions) {
    const { userDescriptor } = base;
    const user = userDescriptor === null ? [] : ["--user=/proc/self/fd/4", "--preserve-credentials"];
    this.#child = spawn(tools.nsenter, ["--net=/proc/self/fd/3", ...user, "--", nodePath, "-e", program], {
      cwd: "/",
      env: { PATH: hostPath },
      stdio: ["ignore", "ignore", "ignore", networkDescriptor, userDescriptor ?? networkDescriptor, "ipc"],
    });
    this.#child.on("message", (message, socket) => this.#hear(message as Answer, socket as Socket | undefined));
    for (const event of ["error", "exit"]) this.#child.on(event, () => this.#lose());
    // It runs as long as a caller waits for it, and does not keep the event loop alive.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A connection to a port of the container's loopback; an abort gives it up. */
  async dial(port: number, signal: AbortSignal | undefined): Promise<Duplex | "refused" | "lost"> {
    if (this.#isOver || signal?.aborted) return "lost";
    const id = ++this.#newest;
    const { promise, resolve } = Promise.withResolvers<Duplex | "refused" | "lost">();
    this.#waiting.set(id, resolve);
    this.#child.channel?.ref();
    const giveUp = (): void => this.#settle(id, "lost");
    signal?.addEventListener("abort", giveUp, { once: true });
    this.#child.send({ id, port }, (error) => {
      if (error !== null) this.#lose();
    });
    const answer = await promise;
    signal?.removeEventListener("abort", giveUp);
    return answer;
  }

  /** Resolves when its process, which would keep the namespace alive, has ended. */
  async close(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#child;
    const hasEnded = pid === undefined || exitCode !== null || signalCode !== null;
    const ended = hasEnded ? null : once(this.#child, "exit");
    // Who waits for the end must not find the event loop empty before it comes.
    this.#child.ref();
    this.#child.kill("SIGKILL");
    this.#lose();
    await ended;
  }

  #hear({ id, code }: Answer, socket: Socket | undefined): void {
    if (socket === undefined) return this.#settle(id, code === undefined ? "lost" : "refused");
    socket.on("error", () => {
      // Its close follows.
    });
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    if (this.#waiting.has(id)) this.#settle(id, socket);
    else socket.destroy();
  }

  #settle(id: number, answer: Duplex | "refused" | "lost"): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#child.channel?.unref();
  }

  #lose(): void {
    this.#isOver = true;
    for (const id of this.#waiting.keys()) this.#settle(id, "lost");
  }
}
