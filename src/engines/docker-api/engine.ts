import { GloveboxError } from "../../errors/glovebox-error.ts";
import { engineSeccompProfile } from "../../policy/seccomp/engine-profile.ts";
import type { Capabilities, EngineComponent } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type {
  CallOptions,
  CapabilityOptions,
  Container,
  ContainerSummary,
  Engine,
  EngineName,
  EngineProbe,
} from "../engine.ts";
import { Api } from "./http/api.ts";
import type { Describe, Dialect, Machine, MachineAnswer } from "./dialect.ts";
import type { Endpoint } from "./http/endpoint.ts";
import {
  engineCapabilities,
  runtimeKindOf,
  engineComponents,
  engineConnection,
  engineSetup,
  type InfoAnswer,
} from "./engine-capabilities.ts";
import { FolderHolder, SupervisorVolume } from "./engine-volumes.ts";
import { DockerApiImages, type ImageFacts, type ReadClientConfig } from "./images.ts";
import { noSuchRuntimeError, runtimeKind, type RuntimeKind } from "./oci-runtime.ts";
import type { ApiRequest } from "./http/api-answer.ts";
import { MountHandles, findSharedFiles, reachableMounts, type MadeContainer } from "./engine-mounts.ts";
import { removeContainer, inspectContainer } from "./container/container-link.ts";
import { uninterrupted } from "./container/uninterrupted.ts";
import { SupervisedContainer } from "../supervised/container/supervised-container.ts";
import { supervisorBinary, type SupervisorBinary } from "../supervised/supervisor-binary.ts";
import { DockerApiPlace } from "./container/place.ts";
import { programVariables } from "../supervised/container/program-request.ts";
import { assertSupervisable, supervisorTerms } from "./container/supervisor-terms.ts";
import { HostUids, nearUids, type OwnFile } from "../container-users.ts";
import { unavailableError, unavailabilityOf, type ConnectFailure, type Unavailability } from "../unavailability.ts";
import { programUser } from "../../policy/profile.ts";
import { usualSupervisor } from "../supervised/container/apart-terms.ts";
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const answerMs = 2_000;
const answerBytes = 4_096;

/**
 * gVisor as a part with a version, which the engine's API does not tell: asked of the program itself, where the engine is
 * this machine's. Its releases are dates, such as `20260824.0`. None when it cannot be told. `offered`: the runtimes that
 * requests can have.
 */
export async function gvisorComponents(
  answer: Pick<InfoAnswer, "Runtimes" | "DefaultRuntime">,
  offered: readonly string[],
  signal?: AbortSignal,
): Promise<readonly EngineComponent[]> {
  const components = gvisorPrograms(answer, offered).map(async ({ program, ...component }) => {
    const version = await versionOf(program, signal);
    return version === null ? [] : [{ name: "gVisor", version, ...component }];
  });
  return (await Promise.all(components)).flat();
}

interface GvisorProgram {
  readonly program: string;
  /** The runtime's name; left out for the default one, which every run uses. */
  readonly ociRuntime?: string;
}

/** The programs of gVisor behind the runtimes that requests can have, each once. */
export function gvisorPrograms(
  { Runtimes, DefaultRuntime }: Pick<InfoAnswer, "Runtimes" | "DefaultRuntime">,
  offered: readonly string[],
): readonly GvisorProgram[] {
  // One program may have several names: the default one comes first.
  const names = offered.toSorted((a, b) => Number(b === DefaultRuntime) - Number(a === DefaultRuntime));
  const found = new Map<string, GvisorProgram>();
  for (const name of names) {
    const runtime = Runtimes?.[name];
    const program = runtime?.path ?? "";
    if (runtimeKind(name, runtime) !== "gvisor" || program === "" || found.has(program)) continue;
    found.set(program, { program, ...(name === DefaultRuntime ? {} : { ociRuntime: name }) });
  }
  return [...found.values()];
}

async function versionOf(program: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    if (!(await isRootsAlone(program))) return null;
    const limits = { env: {}, timeout: answerMs, maxBuffer: answerBytes, ...(signal === undefined ? {} : { signal }) };
    return parseGvisorVersion((await promisify(execFile)(program, ["--version"], limits)).stdout);
  } catch {
    // Not on this machine, or no answer: then there is no version to show.
    return null;
  }
}

/** `20221219.0` of `runsc version release-20221219.0` and of Debian's `0.0~20221219.0`. */
export function parseGvisorVersion(answer: string): string | null {
  return /^runsc version (?:release-|0\.0~)?(\d{8}\.\d+)/.exec(answer)?.[1] ?? null;
}

/** Whether nobody but root could have put a program there: what an engine names is not run on its word alone. */
async function isRootsAlone(program: string): Promise<boolean> {
  if (!path.isAbsolute(program)) return false;
  for (let place = program; ; place = path.dirname(place)) {
    const { uid, mode } = await stat(place);
    if (uid !== 0 || (mode & 0o022) !== 0) return false;
    if (place === path.dirname(place)) return true;
  }
}

/** A container's users, until they are released. */
interface GivenUsers {
  /** Of the container, with the user that its programs have. */
  readonly spec: ContainerSpec;
  /** That user, where it was chosen here: nobody's. */
  readonly programs: number | null;
  /** User and group of its supervisor: no program's. */
  readonly supervisor: number;
  readonly release: () => void;
}

/**
 * Gives the programs of each container a user of their own, where they need not be somebody and the kernel is shared, and its
 * supervisor another: what the kernel counts for each user (watches, descriptors on their way, pending signals, pages of pipes) is
 * then each container's own. Two servers of one engine may choose the same user; a container cannot choose.
 */
export class ContainerUsers {
  readonly #uids: HostUids;

  constructor(randomInteger: (minimum: number, maximum: number) => number) {
    this.#uids = new HostUids(nearUids, randomInteger);
  }

  /** `owner` owns what programs wrote to the container that the image was made of: those of this one are the same user. */
  give(spec: ContainerSpec, runtimeKind: RuntimeKind, owner: number | null): GivenUsers {
    if (runtimeKind !== "namespaces") {
      return { spec, programs: null, supervisor: usualSupervisor, release: () => undefined };
    }
    const isAnybody = (spec.processUser ?? programUser) === programUser;
    const program = isAnybody ? this.#uids.take(owner) : null;
    const own = this.#uids.take();
    let taken: readonly (number | null)[] = [program, own];
    return {
      spec: program === null ? spec : { ...spec, processUser: `${program}:${program}` },
      programs: program,
      // The same only when there are more containers than users.
      supervisor: own === program ? usualSupervisor : own,
      release: () => {
        for (const uid of taken) this.#uids.release(uid);
        taken = [];
      },
    };
  }
}

type Facts = Omit<ContainerSummary, "remove">;

/** How often a list is requested again when something disturbed it. */
const listRetries = 10;

/** The part of a listed container that is read. */
interface ListedContainer {
  readonly Id: string;
  /** Each with a slash before it; a container that another one links to has further names with more slashes. */
  readonly Names?: readonly string[] | null;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly State?: string;
  /** Seconds since the epoch. */
  readonly Created?: number;
}

/** The containers with these labels, whether they run or not. */
export async function listContainers(
  api: Api,
  labels: Readonly<Record<string, string>>,
  options: CallOptions,
): Promise<readonly Facts[]> {
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const query = { all: "1", filters: JSON.stringify({ label }) };
  const request = { method: "GET", path: "/containers/json", query, signal: options.signal } as const;
  let answer = await api.call("list containers", request, [404]);
  // Podman fails when a container disappears while it makes the list.
  for (let again = 0; answer.status === 404; again += 1) {
    answer = await api.call("list containers", request, again < listRetries ? [404] : []);
  }
  const listed = parseContainerList(answer.body);
  const isThere = await Promise.all(
    // Docker 20.10, when it was killed while containers ended, can list, dead and nameless, what it has removed; nothing
    // but its restart takes it off the list. Every container that exists has a name.
    listed.map(async ({ id, name }) => name !== "" || (await inspectContainer({ id, api }, options)) !== null),
  );
  return listed.filter((_, index) => isThere[index]);
}

/** The facts of each container in the answer to `/containers/json`. */
function parseContainerList(body: unknown): readonly Facts[] {
  return ((body ?? []) as readonly ListedContainer[]).map((listed) => ({
    id: listed.Id,
    name: (listed.Names ?? []).map((name) => name.replace(/^\//, "")).find((name) => !name.includes("/")) ?? "",
    labels: listed.Labels ?? {},
    running: listed.State === "running" || listed.State === "paused",
    createdAtMs: (listed.Created ?? 0) * 1000,
  }));
}

export interface DockerApiEngineOptions {
  readonly dialect: Dialect;
  /** @throws ENGINE_UNAVAILABLE when the settings that name it are invalid */
  readonly findEndpoint: () => Promise<Endpoint>;
  /** Reason and start instructions for a connection that failed. */
  readonly explain: (failure: ConnectFailure) => Unavailability;
  readonly readClientConfig: ReadClientConfig;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
}

/** An engine that speaks Docker's API. */
export class DockerApiEngine implements Engine {
  readonly name: EngineName;
  readonly images: DockerApiImages;
  readonly #options: DockerApiEngineOptions;
  readonly #api: Api;
  readonly #handles: MountHandles;
  readonly #users: ContainerUsers;
  /** As the last probe, or the first other call, found it. */
  #machine: Machine | undefined;
  #supervisor: Supervisor | undefined;

  constructor(options: DockerApiEngineOptions) {
    const { dialect, findEndpoint, explain, readClientConfig } = options;
    this.name = dialect.name;
    this.#options = options;
    this.#api = new Api({ engine: dialect.name, title: dialect.title, findEndpoint, explain });
    this.#handles = new MountHandles(this.#api);
    this.#users = new ContainerUsers(options.randomInteger);
    this.images = new DockerApiImages({ api: this.#api, dialect, readClientConfig });
  }

  async probe(options: CallOptions = {}): Promise<EngineProbe> {
    try {
      const { version, answer, components: told, setup, files } = (this.#machine = await this.#examine(options));
      const capabilities = engineCapabilities(answer, { sharesFiles: files.kind !== "none" });
      const gvisor =
        files.kind === "same"
          ? await gvisorComponents(answer, this.#options.dialect.runtimes(answer), options.signal)
          : [];
      return { available: true, version, capabilities, components: [...told, ...gvisor], setup };
    } catch (error) {
      const why = unavailabilityOf(error);
      if (why === null) throw error;
      return { available: false, ...why };
    }
  }

  async capabilities({ signal, ociRuntime }: CapabilityOptions = {}): Promise<Capabilities> {
    const { answer, files } = await this.#known(signal);
    this.#assertRuntime(ociRuntime, answer);
    return engineCapabilities(answer, { ociRuntime, sharesFiles: files.kind !== "none" });
  }

  async create(spec: ContainerSpec, options: CallOptions = {}): Promise<Container> {
    const fresh = this.images.takeFresh(spec.image);
    try {
      if (fresh !== undefined) return await this.#create(spec, fresh, options);
    } catch (error) {
      // The one found has been removed since; another may have its name.
      if (!(error instanceof GloveboxError) || error.errorType !== "SANDBOX_LOST") throw error;
    }
    const image = await this.images.facts(spec.image, options);
    this.images.takeFresh(spec.image);
    return this.#create(spec, image, options);
  }

  async #create(asked: ContainerSpec, image: ImageFacts, options: CallOptions): Promise<Container> {
    const { answer } = await this.#known(options.signal);
    this.#assertRuntime(asked.ociRuntime, answer);
    const runtimeKind = runtimeKindOf(answer, asked.ociRuntime);
    assertSupervisable(asked, runtimeKind, this.#options.dialect);
    const users = this.#users.give(asked, runtimeKind, image.programUid);
    try {
      return await this.#createFor(users, image, options);
    } catch (error) {
      users.release();
      throw error;
    }
  }

  async #createFor(users: GivenUsers, image: ImageFacts, options: CallOptions): Promise<Container> {
    const { dialect, randomInteger } = this.#options;
    const { spec } = users;
    const { answer } = await this.#known(options.signal);
    const runtimeKind = runtimeKindOf(answer, spec.ociRuntime);
    const { binary, volume } = this.#supervisorFor(answer);
    const make = async (again: CallOptions): Promise<MadeContainer> => {
      const ownFiles = await volume.ready(image, spec, again.signal);
      return this.#makeWithMounts(spec, { image, volume: volume.name, ownFiles }, again);
    };
    const makeAgain = (again: CallOptions): Promise<MadeContainer> => {
      volume.doubt();
      return make(again);
    };
    const made = await make(options).catch((error: unknown) => {
      if (volume.misses(error)) return makeAgain(options);
      throw error;
    });
    const place = new DockerApiPlace(
      {
        id: made.id,
        spec,
        environment: programVariables(spec, image),
        openFolders: openFoldersOf(spec, runtimeKind),
        runtimeKind,
        programUid: users.programs,
        onUnseen: made.byHandle ? () => this.#handles.giveUp() : undefined,
        onRemoved: users.release,
        makeAgain: async (again) => (await makeAgain(again)).id,
      },
      this.#api,
      dialect,
    );
    const terms = supervisorTerms(spec, { binary, runtimeKind, own: users.supervisor });
    return new SupervisedContainer({ spec, place, terms, firstEpoch: randomInteger(1, 65_536) });
  }

  async #makeWithMounts(
    spec: ContainerSpec,
    {
      image,
      volume,
      ownFiles,
    }: { readonly image: ImageFacts; readonly volume: string; readonly ownFiles: readonly OwnFile[] },
    { signal }: CallOptions,
  ): Promise<MadeContainer> {
    const { dialect } = this.#options;
    const { answer, setup, files } = await this.#known(signal);
    const { mounts, copied } = reachableMounts(spec.mounts ?? [], files);
    const runtimeKind = runtimeKindOf(answer, spec.ociRuntime);
    const holding = { api: this.#api, spec, folders: copied, image, signal };
    await using holder = copied.length === 0 ? null : await FolderHolder.make(holding);
    const circumstances = {
      seccompProfile: engineSeccompProfile(),
      image,
      setup,
      runtimeKind,
      supervisorVolume: volume,
      ownFiles,
    };
    const make = async (mountsByHandle: boolean): Promise<string> => {
      const call = await dialect.createCall(
        { ...spec, mounts: copied.length > 0 ? copied : mounts },
        { ...circumstances, volumesFrom: holder?.id, mountsByHandle },
      );
      return this.#make({ method: "POST", ...call }, signal);
    };
    const mayHold = dialect.mountsByHandle && runtimeKind === "namespaces" && files.kind === "same";
    const made = mayHold ? await this.#handles.make(spec, make, signal) : { id: await make(false), byHandle: false };
    holder?.handOver();
    return made;
  }

  /** The program for the machine of the engine, and the volume that brings it there. @throws UNSUPPORTED */
  #supervisorFor({ Architecture = "" }: MachineAnswer): Supervisor {
    if (this.#supervisor !== undefined) return this.#supervisor;
    const binary = supervisorBinary(Architecture);
    this.#supervisor = { binary, volume: new SupervisorVolume(this.#api, binary) };
    return this.#supervisor;
  }

  #make(request: ApiRequest, signal: AbortSignal | undefined): Promise<string> {
    return uninterrupted(
      async () => {
        const { body } = await this.#api.call("create a container", request);
        return (body as { readonly Id: string }).Id;
      },
      (made) => removeContainer(this.#api, made),
      signal,
    );
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    const found = await listContainers(this.#api, labels, { signal });
    return found.map((facts) => ({
      ...facts,
      remove: (options) => removeContainer(this.#api, facts.id, options),
    }));
  }

  close(): Promise<void> {
    this.#api.close();
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #known(signal: AbortSignal | undefined): Promise<Machine> {
    return (this.#machine ??= await this.#examine({ signal }));
  }

  /** An engine would silently run another runtime, or fail when it is too late. */
  #assertRuntime(name: string | undefined, answer: MachineAnswer): void {
    const { dialect } = this.#options;
    const available = dialect.runtimes(answer);
    if (name === undefined || available.includes(name)) return;
    throw noSuchRuntimeError(dialect, name, available);
  }

  async #examine({ signal }: CallOptions): Promise<Machine> {
    const { dialect, findEndpoint } = this.#options;
    const endpoint = await findEndpoint();
    const describe: Describe = (path) => this.#api.describe(path, signal);
    const { version, machine: answer } = await dialect.examine(describe, engineConnection(endpoint));
    const foreign = dialect.foreignness(version);
    if (foreign !== null) throw unavailableError(dialect.name, foreign);
    const setup = engineSetup(answer, endpoint);
    const { connection } = setup;
    return {
      version: dialect.version(version),
      answer,
      components: engineComponents(version),
      setup,
      files: await findSharedFiles({ api: this.#api, connection, engineFolder: answer.DockerRootDir, signal }),
    };
  }
}

interface Supervisor {
  readonly binary: SupervisorBinary;
  readonly volume: SupervisorVolume;
}

/** Folders that the first process opens to every user: gVisor gives a mount the mode of the folder that it covers. */
function openFoldersOf({ scratch, writableRoot }: ContainerSpec, runtimeKind: RuntimeKind): readonly string[] {
  const ownMode = runtimeKind === "namespaces" ? [] : scratch.map(({ path }) => path);
  return [...ownMode, ...(writableRoot?.folders ?? [])];
}
