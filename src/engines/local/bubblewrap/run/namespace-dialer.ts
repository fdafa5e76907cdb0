import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { BaseNamespace } from "../namespaces/base-namespace.ts";
import { hostPath, type HostTools } from "../namespaces/host-tools.ts";

export interface NamespaceDialerOptions {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** Node of the host. */
  readonly nodePath: string;
  /** The first process of the sandbox. */
  readonly first: number;
  /** Asked once the namespace is held: whether it is the right one. */
  readonly isStillOurs: () => boolean;
}

interface Answer {
  readonly id: number;
  /** Node's error code when there is no connection. */
  readonly code?: string;
}

/**
 * What runs in the sandbox's network namespace and in nothing else of it: it makes connections, hands them over and never
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

/** Makes connections inside the network namespace of one sandbox that are then ours: real sockets, nothing in between. */
export class NamespaceDialer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Duplex | "refused" | "lost") => void>();
  #newest = 0;
  #isOver = false;

  /** Null when the sandbox has ended. */
  static open(options: NamespaceDialerOptions): NamespaceDialer | null {
    let namespace: number;
    try {
      namespace = openSync(`/proc/${options.first}/ns/net`, "r");
    } catch {
      return null;
    }
    try {
      return options.isStillOurs() ? new NamespaceDialer(namespace, options) : null;
    } finally {
      closeSync(namespace);
    }
  }

  private constructor(namespace: number, { tools, base, nodePath }: NamespaceDialerOptions) {
    const { userDescriptor } = base;
    const user = userDescriptor === null ? [] : ["--user=/proc/self/fd/4", "--preserve-credentials"];
    this.#child = spawn(tools.nsenter, ["--net=/proc/self/fd/3", ...user, "--", nodePath, "-e", program], {
      cwd: "/",
      env: { PATH: hostPath },
      stdio: ["ignore", "ignore", "ignore", namespace, userDescriptor ?? namespace, "ipc"],
    });
    this.#child.on("message", (message, socket) => this.#hear(message as Answer, socket as Socket | undefined));
    for (const event of ["error", "exit"]) this.#child.on(event, () => this.#lose());
    // It serves as long as a caller waits for it, and does not keep the event loop alive.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A connection to a port of the sandbox's loopback; an abort lets go of it. */
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

  close(): void {
    this.#child.kill("SIGKILL");
    this.#lose();
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
