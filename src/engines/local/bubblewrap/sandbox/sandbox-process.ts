import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { settlesWithin } from "../../../../base/abort.ts";
import { descriptors } from "../arguments/descriptors.ts";
import type { BaseNamespace } from "../namespaces/base-namespace.ts";
import { hostPath, type HostTools } from "../namespaces/host-tools.ts";
import { childOf, parentOf } from "./process-family.ts";

export interface SandboxProcessOptions {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** The container's mount namespace. */
  readonly mountDescriptor: number;
  /** The user namespace that is entered; null: none is. */
  readonly userDescriptor: number | null;
  /** /dev/null, to stand in for inherited descriptors. */
  readonly nullDescriptor: number;
  /** Descriptors that this process was born with and its children would be, too. */
  readonly inherited: readonly number[];
  readonly launchArguments: readonly string[];
  /** Bubblewrap's options as it reads them. */
  readonly options: string;
}

/** Killed processes end within milliseconds; after this long they are killed once more. */
const killAgainMs = 2_000;
const maxDiagnosticsCharacters = 4_096;

/**
 * One bubblewrap with the supervisor as first process of its sandbox. Its end is the end of everything inside: the kernel
 * ends a process-id namespace before it lets go of its first process.
 */
export class SandboxProcess {
  /** The supervisor's input and output. */
  readonly stream: Duplex;
  /** When the operating system has made the process, or could not. */
  readonly launched: Promise<void>;
  /** When nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #said = "";
  #isOver = false;

  /** Must be called on the main thread: sandboxes of bubblewrap end with the thread that started them. */
  constructor(options: SandboxProcessOptions) {
    const child = launch(options);
    this.#child = child;
    // Node's types know of five streams only.
    const streams = child.stdio as readonly unknown[];
    this.stream = streams[descriptors.stream] as Duplex;
    (streams[descriptors.diagnostics] as Readable).setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-maxDiagnosticsCharacters);
    });
    const input = streams[descriptors.options] as Writable;
    input.on("error", () => {
      // Its reader ended before; that end tells why.
    });
    input.end(options.options);
    this.launched = new Promise((resolve) => void child.once("spawn", resolve).once("error", () => resolve()));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#isOver = true;
        resolve();
      };
      child.once("exit", end).once("error", (error) => {
        this.#said ||= error.message;
        end();
      });
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What it wrote for people, its newest part; for logs only, as it may name host paths. */
  get said(): string {
    return this.#said.trim();
  }

  /** The supervisor as the host numbers it, looked up each time: the number may meanwhile be another process's. */
  get firstProcess(): number | null {
    const { pid } = this.#child;
    if (this.#isOver || pid === undefined) return null;
    const first = childOf(pid);
    return first !== null && parentOf(first) === pid ? first : null;
  }

  /** SIGKILL to the supervisor, and with it to everything; resolves when nothing is left. */
  async kill(): Promise<void> {
    do {
      this.#killOnce();
    } while (!(await settlesWithin(this.ended, killAgainMs)));
  }

  #killOnce(): void {
    const first = this.firstProcess;
    try {
      if (first !== null) process.kill(first, "SIGKILL");
      // Still being set up: it has started nothing yet that would outlive it.
      else if (!this.#isOver) this.#child.kill("SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

function launch(options: SandboxProcessOptions): ChildProcess {
  const { base, mountDescriptor, nullDescriptor, userDescriptor } = options;
  const filter = openSync(`/proc/self/fd/${base.filterDescriptor}`, constants.O_RDONLY);
  const stdio: ("pipe" | "ignore" | number)[] = [];
  for (const descriptor of options.inherited) stdio[descriptor] = nullDescriptor;
  stdio[descriptors.diagnostics] = "pipe";
  stdio[descriptors.mountNamespace] = mountDescriptor;
  stdio[descriptors.userNamespace] = userDescriptor ?? mountDescriptor;
  stdio[descriptors.seccompFilter] = filter;
  stdio[descriptors.stream] = "pipe";
  stdio[descriptors.options] = "pipe";
  try {
    return spawn(options.tools.nsenter, options.launchArguments, {
      cwd: "/",
      env: { PATH: hostPath },
      stdio: Array.from(stdio, (entry) => entry ?? "ignore"),
    });
  } finally {
    closeSync(filter);
  }
}
