import type { Duplex } from "node:stream";
import { mebibyte } from "../../../../base/bytes.ts";
import { defaultOpenFiles, type ContainerSpec } from "../../../container-spec.ts";
import type { ContainerStats } from "../../../container-stats.ts";
import type { CallOptions, ContainerState, ExecSpec } from "../../../engine.ts";
import type { ContainerStart, EngineContainer } from "../../../supervised/container/engine-container.ts";
import { ownProcesses, type ContainerGroup } from "../../cgroups/container-group.ts";
import { killedExitCode } from "../../level.ts";
import { lostError } from "../../local-errors.ts";
import { checkExecSpec, parseProcessUser } from "../../local-spec.ts";
import { runsNoImages } from "../../no-images.ts";
import { bwrapArguments, encodeOptions } from "../arguments/bwrap-arguments.ts";
import { launchArguments } from "../arguments/launch-arguments.ts";
import { interpreterFolder } from "../arguments/sandbox-view.ts";
import type { BubblewrapHost } from "../bubblewrap-host.ts";
import type { ContainerMounts } from "../namespaces/container-mounts.ts";
import type { ContainerUsers } from "../namespaces/user-namespace-pool.ts";
import type { SandboxMemory } from "./sandbox-memory.ts";
import { SandboxProcess } from "./sandbox-process.ts";

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
