import type { Duplex, Readable, Writable } from "node:stream";
import { mebibyte } from "../../../base/bytes.ts";
import { defaultOpenFiles, type ContainerSpec } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, ContainerState, ExecSpec } from "../../engine.ts";
import type { ContainerStart, EngineContainer } from "../../supervised/container/engine-container.ts";
import { ownProcesses, type ContainerGroup } from "../cgroups.ts";
import { killedExitCode } from "../level.ts";
import { lostError, checkExecSpec, parseProcessUser, runsNoImages } from "../local-spec.ts";
import { bwrapArguments, encodeOptions, launchArguments, interpreterFolder, descriptors } from "./bwrap-arguments.ts";
import type { BubblewrapHost } from "./bubblewrap-host.ts";
import type { ContainerMounts, BaseNamespace } from "./mount-namespaces.ts";
import type { ContainerUsers } from "./user-namespace-pool.ts";
import { childOf, parentOf, type SandboxMemory } from "./sandbox-memory.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { settlesWithin } from "../../../base/abort.ts";
import { hostPath, type HostTools } from "./host-tools.ts";

interface SandboxProcessOptions {
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
class SandboxProcess {
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

/** What every program has unless its container or itself is given another. */
const defaultEnvironment = {
  PATH: `${interpreterFolder}:/usr/bin:/bin:/usr/sbin:/sbin`,
  HOME: "/tmp",
};

/**
 * What one process may use beyond the container's memory where a watch limits that: more than can be used between two
 * looks, so that the watch decides; and a bound if the watch does not look.
 */
const unwatchedBytes = 512 * mebibyte;

/** What a container is made of. */
export interface BubblewrapPlaceParts {
  readonly spec: ContainerSpec;
  readonly host: BubblewrapHost;
  readonly group: ContainerGroup;
  readonly mounts: ContainerMounts;
  /** Null: the supervisor and its programs are our own user. */
  readonly users: ContainerUsers | null;
  /** Null: the kernel limits it. */
  readonly memory: SandboxMemory | null;
  /** Called when all of it is gone. */
  readonly onRemoved: () => void;
}

/** The mounts, users and limits of one container, and the bubblewrap that runs in them. */
export class BubblewrapPlace implements EngineContainer {
  readonly engine = { name: "local", title: "engine local" };
  readonly id: string;
  readonly environment: Readonly<Record<string, string>>;
  /** None: they are made on the host, and opened there before each program. */
  readonly openFolders: readonly string[] = [];
  readonly #parts: BubblewrapPlaceParts;
  #sandbox: SandboxProcess | undefined;
  #lastStats: ContainerStats | undefined;
  #removal: Promise<void> | undefined;

  constructor(parts: BubblewrapPlaceParts) {
    this.id = parts.spec.name;
    this.environment = { ...defaultEnvironment, ...parts.host.interpreters.environment };
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#sandbox?.isOver === false;
  }

  /** As `SandboxProcess.firstProcess`. */
  get firstProcess(): number | null {
    return this.#sandbox?.firstProcess ?? null;
  }

  /** What bubblewrap and the supervisor wrote for people. */
  get said(): string {
    return this.#sandbox?.said ?? "";
  }

  async admit(spec: ExecSpec, { signal }: CallOptions): Promise<void> {
    const { spec: container, host, memory, mounts, users } = this.#parts;
    checkExecSpec(spec, container, users !== null);
    if (spec.command[0] === "bun") await host.bun.provide(signal);
    mounts.openScratch();
    memory?.start();
  }

  async start(open: (stream: Duplex) => void): Promise<ContainerStart> {
    if (this.#removal !== undefined) throw lostError();
    const sandbox = new SandboxProcess(this.#launch());
    this.#sandbox = sandbox;
    this.#parts.memory?.start();
    open(sandbox.stream);
    await sandbox.launched;
    return { mountsVerified: false };
  }

  async kill(): Promise<void> {
    await this.#sandbox?.kill();
  }

  async wait(): Promise<void> {
    await this.#sandbox?.ended;
  }

  async inspect(): Promise<ContainerState> {
    const { oomKills } = await this.stats();
    const exitCode = this.#sandbox === undefined ? null : killedExitCode;
    return { running: this.isRunning, exitCode, oomKilled: oomKills === null ? null : oomKills > 0 };
  }

  stats(): Promise<ContainerStats> {
    const { group, memory } = this.#parts;
    const counted = group.counters.stats;
    if (this.#lastStats !== undefined || memory === null) return Promise.resolve(this.#lastStats ?? counted);
    const { memoryBytes, memoryPeakBytes, oomKills } = memory.stats();
    return Promise.resolve({ ...counted, memoryBytes, memoryPeakBytes, oomKills });
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  commit(): Promise<never> {
    return Promise.reject(runsNoImages("none can be made"));
  }

  async remove(): Promise<void> {
    this.#removal ??= this.#remove();
    await this.#removal;
  }

  async #remove(): Promise<void> {
    const { group, memory, mounts, users, onRemoved } = this.#parts;
    await this.kill();
    memory?.stop();
    this.#lastStats = await this.stats();
    mounts.close();
    await group.remove();
    users?.release();
    onRemoved();
  }

  #launch(): ConstructorParameters<typeof SandboxProcess>[0] {
    const { spec, host, group, mounts, users } = this.#parts;
    const { tools, base, capabilities, inherited, nullDescriptor } = host;
    const { limits } = spec;
    const view = {
      root: host.root,
      base: base.folder,
      shared: users === null ? parseProcessUser(spec.processUser) : null,
      scratchPaths: spec.scratch.map(({ path }) => path),
      mounts: spec.mounts ?? [],
      canDisableUserNamespaces: host.canDisableUserNamespaces,
    };
    return {
      ...{ tools, base, nullDescriptor, inherited },
      mountDescriptor: mounts.descriptor,
      userDescriptor: users?.descriptor ?? base.userDescriptor,
      launchArguments: launchArguments({
        tools,
        userNamespace: users === null ? "engine" : "container",
        groupFiles: group.joinFiles,
        openFiles: Math.min(limits.openFiles ?? defaultOpenFiles, host.openFilesCeiling),
        limits: {
          dataBytes: capabilities.memoryLimit === "yes" ? null : limits.memoryBytes + unwatchedBytes,
          // Bubblewrap itself is outside.
          processes: typeof capabilities.pidsLimit === "object" ? limits.pids + ownProcesses - 1 : null,
          ofUser: host.userLimits,
        },
      }),
      options: encodeOptions(bwrapArguments(view)),
    };
  }
}
