import { cancelled, throwIfCancelled, untilCancelled, Deadline } from "../base/abort.ts";
import { noTracer, type Tracer } from "../base/tracer.ts";
import { GloveboxError, toGloveboxError, invalidField } from "../errors/glovebox-error.ts";
import type { Capabilities } from "./capabilities.ts";
import type { ContainerSpec, MountSpec } from "./container-spec.ts";
import type {
  CallOptions,
  CapabilityOptions,
  Container,
  ContainerSummary,
  Engine,
  EngineProbe,
  ImageStore,
  EngineName,
} from "./engine.ts";
import { lstat, realpath } from "node:fs/promises";
import path, { posix } from "node:path";

/** Where a mount would hide or change what every container has. */
const reserved = ["/dev", "/etc", "/proc", "/sys"];

type CheckedSpec = Pick<ContainerSpec, "mounts" | "scratch" | "command" | "rootCapabilities">;

interface MountCircumstances {
  readonly engine: EngineName;
  readonly capabilities: Pick<Capabilities, "hostPaths">;
}

/**
 * Checks the mounts of a spec, before any engine sees them: some engines make a folder for a source that is missing.
 * @throws UNSUPPORTED for an engine that cannot have files of this machine, unless they never change, INVALID_REQUEST for a target that cannot be,
 * NOT_FOUND for a source that is missing, PERMISSION_DENIED for one that is not the real path
 */
export async function checkMounts(
  { mounts = [], scratch, command, rootCapabilities }: CheckedSpec,
  { engine, capabilities }: MountCircumstances,
): Promise<void> {
  if (mounts.length === 0) return;
  if (!capabilities.hostPaths && !mounts.every(mayBeCopied)) throw noHostPaths(engine);
  const taken = new Set(scratch.map((place) => place.path));
  for (const mount of mounts) {
    checkTarget(mount, taken);
    if (mayBeCopied(mount)) checkApart(mount, taken);
    taken.add(mount.target);
    if (rootCapabilities !== undefined && !mount.readOnly) {
      // Installers may make setuid files, which would be the host's.
      throw invalidField("mounts.readOnly", "true where root has capabilities", "false");
    }
    if (mount.identity !== undefined && command !== undefined) {
      // It would run before its mounts can be inspected.
      throw invalidField("mounts.identity", "a container without a command of its own", "one with a command");
    }
    await checkSource(mount);
  }
}

function checkTarget({ target }: MountSpec, taken: ReadonlySet<string>): void {
  const isPlain = target.startsWith("/") && target !== "/" && posix.normalize(target) === target;
  const isReserved = reserved.some((place) => target === place || target.startsWith(`${place}/`));
  if (isPlain && !target.endsWith("/") && !target.includes("\0") && !isReserved && !taken.has(target)) return;
  throw invalidField("mounts.target", "an absolute path of its own outside the system's own folders", target);
}

function mayBeCopied({ unchanging, readOnly }: MountSpec): boolean {
  return unchanging === true && readOnly;
}

/** In a folder that programs may write to, a copy could be changed. */
function checkApart({ target }: MountSpec, taken: ReadonlySet<string>): void {
  if (![...taken].some((place) => target.startsWith(`${place}/`))) return;
  throw invalidField("mounts.target", "an absolute path outside all writable folders", target);
}

/** The path itself is not shown: it is the host's. */
async function checkSource({ source, target }: MountSpec): Promise<void> {
  const context = { target };
  if (!path.isAbsolute(source) || source.includes("\0")) {
    throw new GloveboxError("INVALID_REQUEST", `What is to be mounted at ${target} is no absolute path.`, { context });
  }
  let real: string;
  try {
    real = await realpath(source);
  } catch (cause) {
    throw new GloveboxError("NOT_FOUND", `What is to be mounted at ${target} does not exist.`, { context, cause });
  }
  const kind = await lstat(real);
  if (real === source && (kind.isDirectory() || kind.isFile())) return;
  throw new GloveboxError(
    "PERMISSION_DENIED",
    `What is to be mounted at ${target} is neither a file nor a folder, or is reached by a symbolic link.`,
    { suggestion: "Name the real path of a file or folder.", context },
  );
}

function noHostPaths(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot give a sandbox files of this machine here.`, {
    suggestion: "Use an engine that runs on this machine with containers or namespaces (`glovebox doctor` lists them).",
    context: { engine, missing: "hostPaths" },
  });
}

/** How long an engine may take to answer; all far above what a loaded machine was seen to need. */
const deadlinesMs = {
  // Short, because others may be tried next.
  probe: 10_000,
  capabilities: 30_000,
  query: 30_000,
  create: 60_000,
  createWithCopies: 600_000,
  start: 60_000,
  exec: 60_000,
  connect: 60_000,
  remove: 60_000,
} as const;

type DeadlineName = keyof typeof deadlinesMs;

/**
 * Wraps an engine so that every call has a deadline, an aborted call ends as CANCELLED, and no other error than
 * `GloveboxError` comes out. Calls that may rightly last (`pull`, `wait`, a process's life) have no deadline.
 */
export function guardEngine(engine: Engine, rules: GuardRules = { prebuiltOnly: false }): Engine {
  return new GuardedEngine(engine, rules);
}

export interface GuardRules {
  /** Whether no image may be pulled or built. */
  readonly prebuiltOnly: boolean;
  /** Told of the calls that change something or may take long; default: nobody is. */
  readonly tracer?: Tracer | undefined;
}

class GuardedEngine implements Engine {
  readonly #engine: Engine;
  readonly #tracer: Tracer;
  readonly images: ImageStore;
  readonly mend: Engine["mend"];
  readonly check: Engine["check"];
  readonly owners?: Engine["owners"];
  /** By OCI runtime; undefined: the engine's own. */
  readonly #capabilities = new Map<string | undefined, Promise<Capabilities>>();
  #closed: Promise<void> | undefined;

  constructor(engine: Engine, { prebuiltOnly, tracer = noTracer }: GuardRules) {
    this.#engine = engine;
    this.#tracer = tracer;
    const { mend, check, owners } = engine;
    if (owners !== undefined) {
      this.owners = {
        settlesMs: owners.settlesMs,
        hold: () => this.#call("query", undefined, () => owners.hold()),
        stateOf: (server, options) => this.#call("query", options, (signal) => owners.stateOf(server, { signal })),
        forget: (busy, options) => this.#call("query", options, (signal) => owners.forget(busy, { signal })),
      };
    }
    if (check !== undefined) {
      this.check = (options) => this.#call("query", options, (signal) => check.call(engine, { signal }));
    }
    if (mend !== undefined) {
      this.mend = (trouble, options) => this.#call(null, options, (signal) => mend.call(engine, trouble, { signal }));
    }
    const { save, load } = engine.images;
    this.images = {
      ...(save === undefined ? {} : { save: (reference, options) => save.call(engine.images, reference, options) }),
      ...(load === undefined
        ? {}
        : {
            load: (reference, archive, options) =>
              this.#step("load", () =>
                this.#call(null, options, (signal) => load.call(engine.images, reference, archive, { signal })),
              ),
          }),
      has: (reference, options) => this.#call("query", options, (signal) => engine.images.has(reference, { signal })),
      identity: (reference, options) =>
        this.#call("query", options, (signal) => engine.images.identity(reference, { signal })),
      pull: (reference, options) =>
        this.#step("pull", () =>
          this.#call(null, options, (signal) =>
            prebuiltOnly ? refuseImage(engine, reference) : engine.images.pull(reference, { ...options, signal }),
          ),
        ),
      build: (build, options) =>
        this.#step("build", () =>
          this.#call(null, options, (signal) =>
            prebuiltOnly ? refuseImage(engine, build.reference) : engine.images.build(build, { ...options, signal }),
          ),
        ),
      labels: (reference, options) =>
        this.#call("query", options, (signal) => engine.images.labels(reference, { signal })),
      remove: (reference, options) =>
        this.#call("remove", options, (signal) => engine.images.remove(reference, { signal })),
      list: async (labels, options) => {
        const found = await this.#call("query", options, (signal) => engine.images.list(labels, { signal }));
        return found.map((summary) => ({
          ...summary,
          remove: (given) => this.#call("remove", given, (signal) => summary.remove({ signal })),
        }));
      },
    };
  }

  get name(): Engine["name"] {
    return this.#engine.name;
  }

  probe(options?: CallOptions): Promise<EngineProbe> {
    return this.#call("probe", options, (signal) => this.#engine.probe({ signal }));
  }

  capabilities({ ociRuntime, signal: caller }: CapabilityOptions = {}): Promise<Capabilities> {
    let asked = this.#capabilities.get(ociRuntime);
    if (asked === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is asked again.
      asked = this.#call("capabilities", undefined, (signal) => this.#askCapabilities(ociRuntime, signal));
      this.#capabilities.set(ociRuntime, asked);
      asked.catch(() => this.#capabilities.delete(ociRuntime));
    }
    return untilCancelled(asked, caller);
  }

  async create(spec: ContainerSpec, options?: CallOptions): Promise<Container> {
    let deadline: DeadlineName = "create";
    if (spec.mounts !== undefined) {
      const capabilities = await this.capabilities({ ociRuntime: spec.ociRuntime, signal: options?.signal });
      await checkMounts(spec, { engine: this.name, capabilities });
      if (spec.mounts.length > 0 && !capabilities.hostPaths) deadline = "createWithCopies";
    }
    const container = await this.#step("create", () =>
      this.#call(deadline, options, (signal) => this.#engine.create(spec, { signal })),
    );
    return this.#guardContainer(container);
  }

  async list(labels: Readonly<Record<string, string>>, options?: CallOptions): Promise<readonly ContainerSummary[]> {
    const found = await this.#call("query", options, (signal) => this.#engine.list(labels, { signal }));
    return found.map((summary) => ({
      ...summary,
      remove: (given) => this.#call("remove", given, (signal) => summary.remove({ signal })),
    }));
  }

  close(): Promise<void> {
    this.#closed ??= this.#engine.close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #guardContainer(container: Container): Container {
    return {
      id: container.id,
      folderOf: (path) => container.folderOf?.(path) ?? path,
      get mountsVerified() {
        return container.mountsVerified ?? false;
      },
      attach: (options) =>
        this.#step("attach", () => this.#call("start", options, (signal) => container.attach({ signal }))),
      start: (options) =>
        this.#step("start", () => this.#call("start", options, (signal) => container.start({ signal }))),
      exec: (spec, options) =>
        this.#step("exec", () => this.#call("exec", options, (signal) => container.exec(spec, { signal }))),
      connect: (port, options) =>
        this.#step("connect", () => this.#call("connect", options, (signal) => container.connect(port, { signal }))),
      ...this.#guardSupervised(container),
      ...(container.files === undefined ? {} : { files: container.files.bind(container) }),
      inspect: (options) => this.#call("query", options, (signal) => container.inspect({ signal })),
      isAlive: (options) => this.#call("query", options, (signal) => container.isAlive({ signal })),
      stats: (options) => this.#call("query", options, (signal) => container.stats({ signal })),
      watchStats: (listener) => container.watchStats?.(listener) ?? false,
      writtenBytes: (options) => this.#call("query", options, (signal) => container.writtenBytes({ signal })),
      writtenFolder: (options) => this.#call("query", options, (signal) => container.writtenFolder({ signal })),
      wait: (options) => this.#call(null, options, (signal) => container.wait({ signal })),
      stop: (graceMs, options) =>
        this.#step("stop", () => this.#call(null, options, (signal) => container.stop(graceMs, { signal }))),
      kill: (options) =>
        this.#step("kill", () => this.#call("remove", options, (signal) => container.kill({ signal }))),
      commit: (labels, options) =>
        this.#step("commit", () => this.#call(null, options, (signal) => container.commit(labels, { signal }))),
      remove: (options) =>
        this.#step("remove", () => this.#call("remove", options, (signal) => container.remove({ signal }))),
    };
  }

  /** What a supervisor alone does. */
  #guardSupervised(container: Container): Pick<Container, "listen" | "hearNames" | "placeFile" | "execInTerminal"> {
    const { listen, hearNames, placeFile, execInTerminal } = container;
    if (listen === undefined || placeFile === undefined || execInTerminal === undefined) return {};
    return {
      listen: (port, onConnection, options) =>
        this.#step("listen", () =>
          this.#call("connect", options, (signal) => listen.call(container, port, onConnection, { signal })),
        ),
      hearNames: hearNames?.bind(container),
      placeFile: (file, options) =>
        this.#call("connect", options, (signal) => placeFile.call(container, file, { signal })),
      execInTerminal: (spec, size, options) =>
        this.#step("exec", () =>
          this.#call("exec", options, (signal) => execInTerminal.call(container, spec, size, { signal })),
        ),
    };
  }

  async #askCapabilities(ociRuntime: string | undefined, signal: AbortSignal): Promise<Capabilities> {
    const capabilities = await this.#engine.capabilities({ signal, ociRuntime });
    if (ociRuntime === undefined || capabilities.images) return capabilities;
    throw new GloveboxError("UNSUPPORTED", `Engine ${this.name} has no OCI runtimes; "${ociRuntime}" was requested.`, {
      suggestion: "Leave oci_runtime out, or choose an engine that runs containers.",
      context: { field: "oci_runtime", engine: this.name },
    });
  }

  /** What is asked again and again while a program runs is no step: it would fill traces. */
  #step<T>(call: string, work: () => Promise<T>): Promise<T> {
    const attributes = { "glovebox.engine.name": this.name, "glovebox.engine.call": call };
    return this.#tracer.step(`${this.name} ${call}`, attributes, work);
  }

  async #call<T>(
    deadline: DeadlineName | null,
    options: CallOptions | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#closed !== undefined) {
      throw new GloveboxError("ENGINE_UNAVAILABLE", `Engine ${this.name} has been closed.`);
    }
    const caller = options?.signal;
    throwIfCancelled(caller);
    // Many calls a run: none of them may hold a timer for the minute that it could have taken.
    using expiry = deadline === null ? undefined : new Deadline(deadlinesMs[deadline]);
    const signals = [caller, expiry?.signal].filter((signal) => signal !== undefined);
    try {
      return await work(AbortSignal.any(signals));
    } catch (error) {
      if (caller?.aborted) throw cancelled(error);
      if (deadline !== null && expiry?.signal.aborted === true) throw this.#late(deadline, error);
      throw toGloveboxError(error);
    }
  }

  #late(deadline: DeadlineName, cause: unknown): GloveboxError {
    const seconds = deadlinesMs[deadline] / 1000;
    return new GloveboxError("ENGINE_UNAVAILABLE", `Engine ${this.name} did not answer within ${seconds} s.`, {
      suggestion: "Check the engine's log and the load on its machine, or restart it; then retry.",
      context: { engine: this.name, call: deadline },
      cause,
    });
  }
}

/** What `prebuilt_only` makes of an image that would have to be fetched or made. */
async function refuseImage({ name }: Engine, image: string): Promise<never> {
  throw new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `The image "${image}" would have to be pulled or built, which this deployment does not allow (prebuilt_only).`,
    {
      suggestion:
        "Use an image that the engine has (`glovebox images` lists the usual ones), or load this one into it.",
      context: { image, engine: name, rule: "prebuilt_only" },
    },
  );
}
