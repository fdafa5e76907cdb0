import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities, EngineComponent, EngineSetup } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { CallOptions, Container, ContainerSummary, Engine, EngineProbe, ImageStore } from "../engine.ts";
import type { Level, LevelContainer, LocalEngineOptions } from "./level.ts";
import {
  nameTaken,
  lostError,
  checkContainerSpec,
  parseProcessUser,
  sharedMemoryBytes,
  noImages,
  type SandboxUser,
} from "./local-spec.ts";
import type { WhyPreload } from "./preload/preload-host.ts";
import { openPreloadLevel } from "./preload/preload-level.ts";
import { programUser } from "../../policy/profile.ts";
import { SupervisedContainer } from "../supervised/container/supervised-container.ts";
import { Cgroups, type ContainerGroup } from "./cgroups.ts";
import {
  explainFailure,
  openBubblewrapHost,
  namespacesCapabilities,
  type BubblewrapHost,
} from "./bubblewrap/bubblewrap-host.ts";
import { openContainerMounts } from "./bubblewrap/mount-namespaces.ts";
import type { ContainerUsers } from "./bubblewrap/user-namespace-pool.ts";
import { BubblewrapPlace } from "./bubblewrap/bubblewrap-place.ts";
import { SandboxMemory } from "./bubblewrap/sandbox-memory.ts";
import { readFile, stat } from "node:fs/promises";
import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import type { SupervisorTerms } from "../supervised/channel/hello.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";
import path from "node:path";
import { compileSeccompFilter } from "../../policy/seccomp/bpf-compiler.ts";
import type { EngineSurroundings } from "../engine-surroundings.ts";
import { hasHostUids } from "../container-users.ts";

/** KILL, SETGID and SETUID, as bits by their numbers in Linux; SETPCAP and NET_BIND_SERVICE it has given up by then. */
const three = (1n << 5n) | (1n << 6n) | (1n << 7n);

interface TermsOptions {
  readonly supervisor: SupervisorBinary;
  readonly programs: SandboxUser;
  /** Whether programs are another user than the supervisor. */
  readonly isApart: boolean;
}

/** What the supervisor of a sandbox must be here. */
function supervisorTerms({ supervisor, programs, isApart }: TermsOptions): SupervisorTerms {
  const { architecture, build } = supervisor;
  const user = { user: programs.uid, group: programs.gid };
  const { program, probes } = spawnFilter(architecture);
  return {
    build,
    architecture,
    mode: isApart ? "apart" : "shared",
    becomes: null,
    own: isApart ? { user: 0, group: 0 } : user,
    capabilities: isApart ? three : 0n,
    programs: user,
    tags: null,
    filter: program,
    probes,
    facts: ["SUBREAPER"],
  };
}

/**
 * Level `namespaces`: bubblewrap, and the system read-only.
 * @throws ENGINE_UNAVAILABLE with what is missing
 */
async function openNamespacesLevel(options: LocalEngineOptions): Promise<Level> {
  const host = await openBubblewrapHost(options);
  const { randomInteger } = options;
  // Only a run shows whether this host lets us run.
  const failure = await tryOut({ host, randomInteger });
  if (failure === null) {
    void host.cgroups.sweep();
    return levelOf({ host, randomInteger });
  }
  // There may be groups that we cannot join.
  const without = { host: withoutGroups(host), randomInteger };
  const second = await tryOut(without);
  if (second === null) return levelOf(without);
  host.close();
  throw explainFailure(second);
}

interface LevelParts {
  readonly host: BubblewrapHost;
  readonly randomInteger: LocalEngineOptions["randomInteger"];
}

function tryOut(parts: LevelParts): Promise<string | null> {
  return runTrial((spec) => makeContainer(parts, spec, {}));
}

async function levelOf(parts: LevelParts): Promise<Level> {
  const { version, capabilities, interpreterPaths, tools } = parts.host;
  return {
    version,
    capabilities,
    components: bubblewrapComponents(version),
    setup: await bubblewrapSetup(tools.bwrap),
    interpreterPaths,
    makeContainer: (spec, options) => makeContainer(parts, spec, options),
    close: () => parts.host.close(),
  };
}

async function makeContainer(
  { host, randomInteger }: LevelParts,
  spec: ContainerSpec,
  { signal, onRemoved }: Partial<Parameters<Level["makeContainer"]>[1]>,
): Promise<LevelContainer & TrialContainer> {
  let group: ContainerGroup | undefined;
  let users: ContainerUsers | null = null;
  try {
    group = host.cgroups.create(spec.name, spec.limits);
    users = (await host.users?.take(spec.processUser ?? programUser, signal)) ?? null;
    const mounts = await openContainerMounts({
      tools: host.tools,
      base: host.base,
      sharedMemoryBytes: sharedMemoryBytes(spec),
      scratch: spec.scratch,
      mounts: spec.mounts ?? [],
      owner: users?.hostUsers.supervisor ?? null,
      announcement: host.cgroups.announcement,
      signal,
    });
    const memory =
      host.capabilities.memoryLimit === "yes"
        ? null
        : new SandboxMemory({
            limitBytes: spec.limits.memoryBytes,
            firstProcess: () => place.firstProcess,
            endLargest: () => container.endLargest(),
          });
    const place: BubblewrapPlace = new BubblewrapPlace({
      ...{ spec, host, group, mounts, users, memory },
      onRemoved: () => {
        host.users?.replenish();
        onRemoved?.();
      },
    });
    const programs = parseProcessUser(spec.processUser);
    const terms = supervisorTerms({ supervisor: host.supervisor, programs, isApart: users !== null });
    const container: SupervisedContainer = new SupervisedContainer({
      spec,
      place,
      terms,
      firstEpoch: randomInteger(1, maxEpoch + 1),
    });
    return { container, isRunning: () => place.isRunning, said: () => place.said };
  } catch (error) {
    users?.release();
    await group?.remove();
    throw error instanceof GloveboxError ? error : lostError(error);
  }
}

/** Epochs are numbers of 16 bits. */
const maxEpoch = 65_535;

function withoutGroups(host: BubblewrapHost): BubblewrapHost {
  const { countsProcessesByNamespace, hasNode, users } = host;
  const capabilities = namespacesCapabilities({
    controllers: new Set(),
    countsCpuTime: false,
    countsProcessesByNamespace,
    isApart: users !== null,
    hasNode,
  });
  return { ...host, cgroups: Cgroups.none(), capabilities };
}

const setuidBit = 0o4000;

/** How the embedded engine is set up: it has no API, and this process runs its sandboxes itself. */
export async function bubblewrapSetup(bwrap: string): Promise<EngineSetup> {
  const [{ mode, uid }, kernel] = await Promise.all([stat(bwrap), readFile("/proc/sys/kernel/osrelease", "utf8")]);
  return { kernel: kernel.trim(), inProcess: true, setuid: (mode & setuidBit) !== 0 && uid === 0 };
}

/** `bubblewrap 0.8.0` as a part with a version. */
export function bubblewrapComponents(version: string): readonly EngineComponent[] {
  const [name = "", number] = version.split(" ");
  return number === undefined ? [] : [{ name, version: number }];
}

const spec: ContainerSpec = {
  name: "probe",
  image: "host",
  labels: {},
  limits: { cpus: 1, memoryBytes: 64 * 1024 * 1024, pids: 16 },
  scratch: [{ path: "/tmp", sizeBytes: 1024 * 1024 }],
};

/** A container for the trial, and what its parts on the host wrote for people. */
interface TrialContainer {
  readonly container: Container;
  readonly said: () => string;
}

/** Runs a program that does nothing in a container made for it; null when everything went well, otherwise what was said. */
async function runTrial(make: (spec: ContainerSpec) => Promise<TrialContainer>): Promise<string | null> {
  let made: TrialContainer | undefined;
  try {
    made = await make(spec);
    await made.container.start();
    const { exit, stdin } = await made.container.exec({ command: ["true"] });
    stdin.end();
    const { exitCode } = await exit;
    return exitCode === 0 ? null : `the trial ended with ${exitCode}`;
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: Partial<Error> };
    return made?.said() || (cause?.message ?? message);
  } finally {
    await made?.container.remove();
  }
}

/**
 * The embedded engine (SPEC RT5): no daemon and no image, only the host's own system, at the level that is asked for or
 * the best that the host lets it reach. Its containers live in this process: they end with it, and `close` removes them.
 */
export function createLocalEngine(options: LocalEngineOptions, open: OpenLevel = openLevel): Engine {
  return new LocalEngine(options, open);
}

interface Entry extends LevelContainer {
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
}

class LocalEngine implements Engine {
  readonly name = "local";
  readonly images: ImageStore = noImages(async ({ signal }) => (await this.#open(signal)).interpreterPaths);
  readonly #options: LocalEngineOptions;
  readonly #openLevel: OpenLevel;
  readonly #entries = new Map<string, Entry>();
  /** Names of containers that are being created. */
  readonly #reserved = new Set<string>();
  #level: Promise<Level> | undefined;

  constructor(options: LocalEngineOptions, open: OpenLevel) {
    this.#options = options;
    this.#openLevel = open;
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const { version, capabilities, components, setup } = await this.#open(signal);
      return { available: true, version, capabilities, components, setup };
    } catch (error) {
      if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") throw error;
      return { available: false, reason: error.message, howToStart: error.suggestion };
    }
  }

  async capabilities({ signal }: CallOptions = {}): Promise<Capabilities> {
    return (await this.#open(signal)).capabilities;
  }

  async create(spec: ContainerSpec, { signal }: CallOptions = {}): Promise<Container> {
    throwIfCancelled(signal);
    checkContainerSpec(spec);
    parseProcessUser(spec.processUser);
    if (this.#entries.has(spec.name) || this.#reserved.has(spec.name)) throw nameTaken(spec.name);
    this.#reserved.add(spec.name);
    try {
      const level = await this.#open(signal);
      const onRemoved = (): void => void this.#entries.delete(spec.name);
      const made = await level.makeContainer(spec, { signal, onRemoved });
      if (signal?.aborted) await made.container.remove();
      throwIfCancelled(signal);
      this.#entries.set(spec.name, { ...made, labels: spec.labels, createdAtMs: this.#options.now() });
      return made.container;
    } finally {
      this.#reserved.delete(spec.name);
    }
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    throwIfCancelled(signal);
    const wanted = Object.entries(labels);
    return [...this.#entries]
      .filter(([, entry]) => wanted.every(([label, value]) => entry.labels[label] === value))
      .map(([name, { container, isRunning, labels: own, createdAtMs }]) => ({
        id: container.id,
        name,
        labels: own,
        running: isRunning(),
        createdAtMs,
        remove: (options) => container.remove(options),
      }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ container }) => container.remove()));
    const level = this.#level;
    this.#level = undefined;
    await level?.then(
      (opened) => opened.close?.(),
      () => {
        // It was never opened.
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(signal: AbortSignal | undefined): Promise<Level> {
    throwIfCancelled(signal);
    if (this.#level === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is tried again.
      const opening = this.#openLevel(this.#options);
      this.#level = opening;
      opening.catch(() => {
        if (this.#level === opening) this.#level = undefined;
      });
    }
    return untilCancelled(this.#level, signal);
  }
}

/** @throws ENGINE_UNAVAILABLE with what is missing */
type OpenLevel = (options: LocalEngineOptions) => Promise<Level>;

/** How each level is opened; `preload` is told why no better level is available. */
export interface LevelOpeners {
  readonly namespaces: (options: LocalEngineOptions) => Promise<Level>;
  readonly preload: (options: LocalEngineOptions, why: WhyPreload) => Promise<Level>;
}

const openers: LevelOpeners = { namespaces: openNamespacesLevel, preload: openPreloadLevel };

/**
 * Opens the level that is asked for, or the best that this host supports. When none is available, the error is that of
 * the better one.
 */
export async function openLevel(
  options: LocalEngineOptions,
  { namespaces, preload }: LevelOpeners = openers,
): Promise<Level> {
  const { level = "auto" } = options;
  if (level === "namespaces") return namespaces(options);
  if (level === "preload") return preload(options, { reason: "This level was asked for." });
  try {
    return await namespaces(options);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    try {
      return await preload(options, { reason: error.message, fix: error.suggestion });
    } catch (second) {
      throw isUnavailable(second) ? error : second;
    }
  }
}

function isUnavailable(error: unknown): error is GloveboxError {
  return error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE";
}

/** The embedded engine of this machine. */
export function openLocalEngine(surroundings: EngineSurroundings): Engine {
  // Other machines have no namespaces either, so the engine says what is missing before it asks for the filter.
  const architecture = surroundings.architecture === "arm64" ? "arm64" : "x64";
  return createLocalEngine({ ...optionsOf(surroundings), seccompFilter: compileSeccompFilter(architecture) });
}

/** The embedded engine as it installs packages on this machine itself, for programs at level `preload`. */
export function openLocalInstaller(surroundings: EngineSurroundings): Engine {
  const filter = new Uint8Array();
  return createLocalEngine({
    ...optionsOf(surroundings),
    seccompFilter: filter,
    level: "preload",
    // Root has another user install, to whom its state folder is closed.
    ...(surroundings.uid === 0 ? { bunFolder: path.join(surroundings.passableStateDirectory, "bun") } : {}),
    preload: { installs: true },
  });
}

function optionsOf(surroundings: EngineSurroundings): Omit<LocalEngineOptions, "seccompFilter"> {
  const { platform, architecture, uid, environment, processId, executable, now, randomInteger } = surroundings;
  return {
    platform,
    architecture,
    // A root without other users, as in a rootless container, is an ordinary user.
    uid: hasHostUids() ? uid : null,
    environment,
    preloadFolders: {
      own: path.join(surroundings.stateDirectory, "preload"),
      passable: path.join(surroundings.passableStateDirectory, "preload"),
    },
    bunFolder: path.join(surroundings.stateDirectory, "bun"),
    fetchBun: surroundings.fetchBun,
    processId,
    nodePath: executable,
    now,
    randomInteger,
  };
}
