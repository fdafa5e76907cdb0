import { settlesWithin } from "../../base/abort.ts";
import { Turns } from "../../base/turns.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import { defaultOpenFiles, type ContainerSpec, type MountSpec, type ScratchSpec } from "../container-spec.ts";
import { uninterrupted } from "../docker-api/container/uninterrupted.ts";
import { unavailabilityOf } from "../unavailability.ts";
import type { CallOptions, CapabilityOptions, Container, ContainerSummary, Engine, EngineProbe } from "../engine.ts";
import {
  parseContainers,
  isServiceRunning,
  parseVersion,
  labelOption,
  option,
  AnswerError,
  type ContainerFacts,
  type CommandVersion,
  type VolumeFacts,
} from "./command-format.ts";
import {
  namesOf,
  sizedVolumes,
  containerOfVolume,
  createVolumes,
  listVolumes,
  removeVolumes,
  type SizedVolume,
} from "./apple-volumes.ts";
import {
  engineName,
  refusal,
  serviceDown,
  unreadable,
  unsupportedVersion,
  failureKind,
  noOciRuntimes,
  isSupported,
} from "./apple-errors.ts";
import { ContainerCommand, readAnswer, deadlinesMs, type Deadline } from "./container-command.ts";
import { programVariables } from "../supervised/container/program-request.ts";
import { SupervisedContainer } from "../supervised/container/supervised-container.ts";
import {
  readSupervisor,
  supervisorBinary,
  supervisorFolder,
  type SupervisorBinary,
} from "../supervised/supervisor-binary.ts";
import { imageUnavailable } from "../image-errors.ts";
import { AppleImages } from "./apple-images.ts";
import { ApplePlace, removeContainer } from "./apple-place.ts";
import { spawnFilter } from "../../policy/seccomp/spawn-filter.ts";
import type { SupervisorTerms } from "../supervised/channel/hello.ts";
import { apartTerms, usualSupervisor, supervisorCapabilities } from "../supervised/container/apart-terms.ts";
import path from "node:path";
import { mebibyte } from "../../base/bytes.ts";

/**
 * The command's version, when its service runs and this engine knows both.
 * @throws ENGINE_UNAVAILABLE with what to do
 */
async function examineService(command: ContainerCommand, signal: AbortSignal | undefined): Promise<CommandVersion> {
  const [told, status] = await Promise.all([
    command.run({ action: "tell its version", words: ["--version"], deadline: "version", signal }),
    command.run({
      action: "tell whether it runs",
      words: ["system", "status", "--format=json"],
      deadline: "status",
      signal,
    }),
  ]);
  const version = parseVersion(told.stdout);
  // Older ones answer the other question in another way.
  if (version === null || !isSupported(version)) throw unsupportedVersion(version);
  if (status.exitCode !== 0) throw serviceDown();
  if (!answers(status.stdout)) throw serviceDown();
  return version;
}

function answers(text: string): boolean {
  try {
    return isServiceRunning(text);
  } catch (error) {
    if (error instanceof AnswerError) throw unreadable("tell whether it runs", error);
    throw error;
  }
}

/** What the command takes as a name, which is the container's id too. */
const nameForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

interface CreateCircumstances {
  /** `os/architecture` of the image. */
  readonly platform: string;
  readonly binary: Pick<SupervisorBinary, "path">;
}

/**
 * Argument vector that creates a container, without network, with a read-only root. Its first process is the supervisor, from the
 * folder of our package, which begins as root with the capabilities that it needs, and nothing else has any; a container
 * without a command of its own is removed by the engine when that ends.
 * @throws INVALID_REQUEST, UNSUPPORTED for what the command cannot be told
 */
export function createArguments(spec: ContainerSpec, { platform, binary }: CreateCircumstances): readonly string[] {
  if (!nameForm.test(spec.name)) {
    throw invalidField("name", "2 to 63 lower-case letters, digits and dashes, no dash first", spec.name);
  }
  const volumes = sizedVolumes(spec);
  const shipped = { source: path.dirname(binary.path), target: supervisorFolder, readOnly: true };
  return [
    "create",
    option("name", spec.name),
    ...(spec.command === undefined ? ["--rm"] : []),
    "--interactive",
    option("platform", platform),
    option("user", "0:0"),
    option("workdir", "/"),
    ...Object.entries(spec.labels).map(([name, value]) => labelOption(name, value)),
    ...limitOptions(spec),
    // No interface at all, and nobody to ask for names.
    option("network", "none"),
    "--no-dns",
    option("cap-drop", "ALL"),
    ...supervisorCapabilities(spec).map((name) => option("cap-add", name)),
    ...(spec.writableRoot === undefined ? ["--read-only"] : []),
    ...volumes.map(volumeOption),
    ...spec.scratch.filter(({ path: at }) => volumes.every((volume) => volume.path !== at)).map(scratchOption),
    ...[...(spec.mounts ?? []), shipped].map(mountOption),
    // Replaces the image's entry point and its command.
    option("entrypoint", `${supervisorFolder}/${path.basename(binary.path)}`),
    "--",
    spec.image,
  ];
}

/** The command refuses to give a virtual machine less memory than this. */
const minMemoryBytes = 200 * mebibyte;
const defaultSharedMemoryBytes = 64 * mebibyte;

/**
 * Limits of a container as options.
 * @throws UNSUPPORTED for a fraction of a CPU and for less memory than a virtual machine needs: neither is silently
 * rounded
 */
function limitOptions({ limits, sharedMemoryBytes }: ContainerSpec): readonly string[] {
  const { cpus, memoryBytes, pids, openFiles = defaultOpenFiles } = limits;
  if (!Number.isInteger(cpus)) throw wholeCpusOnly(cpus);
  if (memoryBytes < minMemoryBytes) throw tooLittleMemory(memoryBytes);
  const shared = sharedMemoryBytes ?? Math.min(defaultSharedMemoryBytes, Math.floor(memoryBytes / 8));
  return [
    option("cpus", String(cpus)),
    // Whole MiB, rounded down: the limit is never above what was requested.
    option("memory", `${Math.floor(memoryBytes / mebibyte)}m`),
    option("shm-size", `${shared}b`),
    option("ulimit", `nofile=${openFiles}:${openFiles}`),
    option("ulimit", "core=0:0"),
    // There is no limit for a container as a whole: this one is each user's inside.
    option("ulimit", `nproc=${pids}:${pids}`),
  ];
}

function wholeCpusOnly(cpus: number): GloveboxError {
  const next = Math.max(1, Math.ceil(cpus));
  return new GloveboxError("UNSUPPORTED", `Engine apple gives whole CPUs only; ${cpus} were requested.`, {
    suggestion: `Ask for ${next}, or choose an engine that limits parts of a CPU.`,
    context: { engine: "apple", missing: "cpuLimit", cpus },
  });
}

function tooLittleMemory(memoryBytes: number): GloveboxError {
  const asked = Math.floor(memoryBytes / mebibyte);
  return new GloveboxError("UNSUPPORTED", `Engine apple gives at least 200 MB of memory; ${asked} MB were requested.`, {
    suggestion: "Ask for 200 MB or more, or choose an engine whose containers share the host's kernel.",
    context: { engine: "apple", missing: "memoryLimit", memory_mb: asked },
  });
}

/**
 * A file or folder of this machine as an option, without devices and setuid programs. The other form of it, `--mount`,
 * takes colons, but neither single files nor these options.
 * @throws UNSUPPORTED for a path with a colon
 */
function mountOption({ source, target, readOnly }: MountSpec): string {
  if (`${source}${target}`.includes(":")) throw colonInPath(target);
  return option("volume", `${source}:${target}:${readOnly ? "ro," : ""}nosuid,nodev`);
}

/** A writable folder in memory as an option: whole MiB, rounded down, one at least. */
function scratchOption({ path, sizeBytes }: ScratchSpec): string {
  assertPlain(path);
  const size = Math.max(1, Math.floor(sizeBytes / mebibyte));
  return option("mount", `type=tmpfs,target=${path},size=${size}m,mode=1777`);
}

/** The same on a volume of its own as an option. */
function volumeOption({ name, path }: SizedVolume): string {
  assertPlain(path);
  return option("mount", `type=volume,source=${name},target=${path}`);
}

function assertPlain(path: string): void {
  if (/[,=]/.test(path)) throw invalidField("scratch.path", "a path without a comma and an equals sign", path);
}

function colonInPath(target: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `What is to be mounted at ${target} has a colon in its path.`, {
    suggestion: "Rename the folder: engine apple does not support colons in mount paths.",
    context: { engine: "apple", target },
  });
}

/** A container and the names of the volumes that go with it. */
type ContainerWithVolumes = ContainerFacts & { readonly volumes: readonly string[] };

/** Containers with their volumes; volumes that a container has left behind represent it: stopped, with its labels. */
function containersWithVolumes(
  containers: readonly ContainerFacts[],
  volumes: readonly VolumeFacts[],
): readonly ContainerWithVolumes[] {
  const found = new Map(containers.map((facts) => [facts.id, { ...facts, volumes: [] as string[] }]));
  for (const { name, labels, createdAtMs } of volumes) {
    const id = containerOfVolume(name);
    if (id === null) continue;
    const of = found.get(id) ?? { id, labels, createdAtMs, state: "stopped", volumes: [] };
    of.volumes.push(name);
    found.set(id, of);
  }
  return [...found.values()];
}

/** What the supervisor of a container is told, and what it must be. The engine filters nothing. */
export function supervisorTerms(
  spec: ContainerSpec,
  binary: Pick<SupervisorBinary, "architecture" | "build">,
): SupervisorTerms {
  const filter = spawnFilter(binary.architecture, { setuidBits: spec.rootCapabilities !== undefined });
  return apartTerms(spec, { binary, filter, own: usualSupervisor });
}

/** What Apple's containers enforce: each is a virtual machine with a kernel of its own, whose limits the service sets. */
const appleCapabilities: Capabilities = {
  isolation: "vm",
  images: true,
  hostPaths: true,
  // The command has no option for any of the three: the supervisor sees to them, in each program.
  seccomp: "yes",
  noNewPrivileges: "yes",
  setuidRefusal: "yes",
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: "yes",
  cpuLimit: "yes",
  // There is no limit for a container as a whole; this one does not apply to root.
  pidsLimit: { substitute: "`--ulimit nproc` for each user inside a virtual machine" },
  scratch: "memoryOrDisk",
  // The root is a sparse disk of 512 GB, and the command does not report its use.
  diskLimit: "no",
  // Counted inside by the supervisor: the command does not report them.
  oomReporting: true,
  cpuReporting: true,
  supervisor: "apart",
  execUser: true,
  execNetwork: "shared",
};

export interface AppleEngineOptions {
  /** What the command is found by and given. */
  readonly environment: Readonly<Record<string, string>>;
  readonly architecture: NodeJS.Architecture;
  /** Other deadlines than the usual ones. */
  readonly deadlines?: Readonly<Record<Deadline, number>> | undefined;
}

/** Container in which the service builds images. */
const builderId = "buildkit";

/** How long we look for what a failed creation may have left. */
const undoMs = 10_000;

/** Containers in virtual machines of their own, over Apple's `container` command. */
export class AppleEngine implements Engine {
  readonly name: string = engineName;
  readonly images: AppleImages;
  readonly #command: ContainerCommand;
  readonly #architecture: NodeJS.Architecture;
  /** The service starts containers one after another, and hangs when many are requested at once. */
  readonly #turns = new Turns();
  /** As the last probe or the first other call found it. */
  #version: CommandVersion | undefined;

  constructor({ environment, architecture, deadlines = deadlinesMs }: AppleEngineOptions) {
    this.#command = new ContainerCommand(environment, deadlines);
    this.#architecture = architecture;
    this.images = new AppleImages({
      command: this.#command,
      architecture: architecture === "x64" ? "amd64" : architecture,
      folder: environment["TMPDIR"] ?? "/tmp",
    });
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const version = (this.#version = await examineService(this.#command, signal));
      const { text, build } = version;
      return {
        available: true,
        version: text,
        capabilities: appleCapabilities,
        components: [{ name: "Apple container", version: text, ...(build === undefined ? {} : { build }) }],
      };
    } catch (error) {
      const why = unavailabilityOf(error);
      if (why === null) throw error;
      return { available: false, ...why };
    }
  }

  async capabilities({ signal, ociRuntime }: CapabilityOptions = {}): Promise<Capabilities> {
    await this.#known(signal);
    if (ociRuntime !== undefined) throw noOciRuntimes(ociRuntime);
    return appleCapabilities;
  }

  async create(spec: ContainerSpec, { signal }: CallOptions = {}): Promise<Container> {
    await this.#known(signal);
    if (spec.ociRuntime !== undefined) throw noOciRuntimes(spec.ociRuntime);
    const binary = supervisorBinary(this.#architecture);
    // The service shares the file itself.
    await readSupervisor(binary);
    const words = createArguments(spec, { platform: this.images.platform, binary });
    // The command itself would pull a missing image.
    const image = await this.images.facts(spec.image, { signal });
    const takeTurn = (given: AbortSignal | undefined): Promise<() => void> => this.#turns.take(given);
    const endTurn = await takeTurn(signal);
    try {
      await this.#create(spec, words, signal);
    } finally {
      endTurn();
    }
    const environment = programVariables(spec, image);
    const place = new ApplePlace({ spec, command: this.#command, environment, takeTurn });
    const terms = supervisorTerms(spec, binary);
    // Only the command that starts it ever has its stream.
    return new SupervisedContainer({ spec, place, terms, firstEpoch: 1 });
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    await this.#known(signal);
    const [containers, volumes] = await Promise.all([this.#containers(signal), listVolumes(this.#command, signal)]);
    const wanted = Object.entries(labels);
    return containersWithVolumes(containers, volumes)
      .filter((facts) => wanted.every(([name, value]) => facts.labels[name] === value))
      .map(({ id, labels: own, state, createdAtMs, volumes: names }) => ({
        ...{ id, name: id, labels: own, createdAtMs },
        running: state === "running" || state === "stopping",
        remove: async (options) => {
          await removeContainer(this.#command, id, options?.signal);
          await removeVolumes(this.#command, names, options?.signal);
        },
      }));
  }

  /** Ids of all containers that run on the service, whoever made them, but for its own builder. */
  async liveContainers(): Promise<readonly string[]> {
    const found = await this.#containers(undefined);
    return found.filter(({ id, state }) => state === "running" && id !== builderId).map(({ id }) => id);
  }

  /**
   * Stops the service with everything that runs on it, and starts it.
   * @throws ENGINE_UNAVAILABLE when it does not come up
   */
  async restartService(): Promise<void> {
    await this.#command.run({ action: "stop", words: ["system", "stop"], deadline: "serviceStop" });
    const action = "start";
    // Without the option it asks on a terminal for a kernel that is missing.
    const words = ["system", "start", "--enable-kernel-install", "--timeout=60"];
    const result = await this.#command.run({ action, words, deadline: "serviceStart" });
    if (result.exitCode !== 0) throw refusal(action, result);
    this.#version = await examineService(this.#command, undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #containers(signal: AbortSignal | undefined): Promise<readonly ContainerFacts[]> {
    const words = ["list", "--all", "--format=json"];
    const call = { action: "list containers", words, deadline: "query", signal } as const;
    return readAnswer(this.#command, call, parseContainers);
  }

  /** @throws ENGINE_UNAVAILABLE when it is not installed, not running or of another version */
  async #known(signal: AbortSignal | undefined): Promise<CommandVersion> {
    return (this.#version ??= await examineService(this.#command, signal));
  }

  /** Given up, or not answered in time: it leaves no container. */
  async #create(spec: ContainerSpec, words: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const action = "create a container";
    const volumes = sizedVolumes(spec);
    const undo = async (): Promise<void> => {
      await removeContainer(this.#command, spec.name);
      await removeVolumes(this.#command, namesOf(volumes));
    };
    const begin = async (): Promise<void> => {
      try {
        await createVolumes(this.#command, volumes, spec.labels);
        const result = await this.#command.run({ action, words, deadline: "create" });
        if (result.exitCode === 0) return;
        if (failureKind(result.stderr) === "no-image") throw imageUnavailable(spec.image, "it is not present");
        throw refusal(action, result);
      } catch (error) {
        // It may have come as far as a container.
        if (volumes.length > 0 || (error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE")) {
          await settlesWithin(undo(), undoMs);
        }
        throw error;
      }
    };
    await uninterrupted(begin, undo, signal);
  }
}
