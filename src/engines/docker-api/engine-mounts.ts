import type { ContainerSpec, MountIdentity, MountSpec } from "../container-spec.ts";
import type { Api } from "./http/api.ts";
import { containerPath, removeContainer } from "./container/container-link.ts";
import { constants, type BigIntStats } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { parseMountTable, type MountEntry } from "../../base/mount-table.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineConnection } from "../capabilities.ts";
import { ownContainerId, pathOutside, type InspectedMount, type SharedFiles } from "./own-container.ts";

/** Creates a container whose mounts are made of what we hold open, or of names; resolves to its id. */
type MakeContainer = (mountsByHandle: boolean) => Promise<string>;

/** A container as it was made. */
export interface MadeContainer {
  readonly id: string;
  readonly byHandle: boolean;
}

/**
 * Whether an engine can mount what this process holds open, so that no name is looked up: only one that shares our
 * mounts and processes can. Nothing but a trial tells, which the first container with such a mount is.
 */
export class MountHandles {
  readonly #api: Api;
  /** Undefined: not tried. */
  #work: boolean | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Resolves to the container's id, and whether it was made with handles: it must not run then if what is mounted
   * cannot be seen.
   * @throws what `make` throws
   */
  async make(spec: ContainerSpec, make: MakeContainer, signal: AbortSignal | undefined): Promise<MadeContainer> {
    const target = spec.mounts?.find(({ identity }) => (identity?.heldAt ?? null) !== null)?.target;
    if (target === undefined || this.#work === false) return { id: await make(false), byHandle: false };
    if (this.#work === true) return { id: await make(true), byHandle: true };
    const id = await make(true).catch(() => null);
    // Whatever the reason was, the other way shows whether it matters.
    if (id === null) return { id: await make(false), byHandle: false };
    try {
      this.#work = await this.#mounts(id, target, signal);
    } catch (error) {
      await removeContainer(this.#api, id);
      throw error;
    }
    if (this.#work) return { id, byHandle: true };
    await removeContainer(this.#api, id);
    return { id: await make(false), byHandle: false };
  }

  /** Another process had that number, on another machine or in another namespace: names are mounted from now on. */
  giveUp(): void {
    this.#work = false;
  }

  /** Looking at a place of a container that does not run makes the engine mount all that belongs to it, for that time. */
  async #mounts(id: string, target: string, signal: AbortSignal | undefined): Promise<boolean> {
    const query = { path: `${target}/.` };
    const request = { method: "HEAD", path: containerPath({ id }, "archive"), query, signal } as const;
    const { status } = await this.#api.call("look at a mount", request, [400, 404, 500]);
    return status === 200;
  }
}

/**
 * `unseen`: the mounts cannot be inspected from here, as with those of another kernel or of a container without
 * processes.
 */
export type MountFinding = "same" | "other" | "unseen";

interface MountedContainer {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
  readonly mounts: readonly Pick<MountSpec, "target" | "identity">[];
}

/** Linux: opens a place without reading it. */
const openPathOnly = 0o10_000_000;

/**
 * Compares what is mounted in a container with what had to be: a mount itself cannot be exchanged any more, as the name
 * could that it was made from (SPEC MO2). Nothing that is looked at here can be changed by programs inside.
 */
export async function verifyMounts({ id, processId, mounts }: MountedContainer): Promise<MountFinding> {
  const expected = mounts.flatMap(({ target, identity }) => (identity === undefined ? [] : [{ target, identity }]));
  if (expected.length === 0) return "same";
  if (processId <= 0) return "unseen";
  // Held open, so that the number cannot come to mean another process.
  await using process = await open(`/proc/${processId}`, openPathOnly | constants.O_DIRECTORY).catch(() => null);
  if (process === null) return "unseen";
  const folder = `/proc/self/fd/${process.fd}`;
  const table = parseMountTable(await readFile(`${folder}/mountinfo`, "latin1").catch(() => ""));
  // Engines mount files from a folder that is named by the container's id: a process without is another machine's.
  if (!table.some(({ root }) => root.split("/").includes(id))) return "unseen";
  for (const { target, identity } of expected) {
    if (identity.place === null) return "unseen";
    const isSame = isMounted(table, target, identity) && (await isFound(`${folder}/root`, target, identity));
    if (!isSame) return "other";
  }
  return "same";
}

/** Ends the container: it may have been started with a folder that nobody allowed. */
export function mountExchanged({ mounts = [] }: { readonly mounts?: readonly MountSpec[] | undefined }): GloveboxError {
  const targets = mounts.filter(({ identity }) => identity !== undefined).map(({ target }) => target);
  return new GloveboxError(
    "POLICY_DENIED",
    `What was mounted at ${targets.join(" and ")} is not the folder that was checked: its path changed before the engine used it. The container was removed before any command ran in it.`,
    {
      suggestion:
        "Do not move the folder or its parents while a sandbox starts. A program in another sandbox may be swapping them: destroy the one whose project contains this folder. If the image has a link at that path, nothing can be mounted there.",
      context: { rule: "changed", targets },
    },
  );
}

interface SharedFilesOptions {
  readonly api: Api;
  readonly connection: EngineConnection | undefined;
  /** The engine's own folder, as it reports it. */
  readonly engineFolder: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What is reached over a network may be another machine, also behind a port of this one that leads on. A socket may have
 * been handed into a container (SPEC API3): then the engine is asked what that container has. A container that the engine
 * does not know is its own machine only if the engine's folder is in it, too.
 */
export async function findSharedFiles(options: SharedFilesOptions): Promise<SharedFiles> {
  const { api, connection, engineFolder, signal } = options;
  if (connection?.kind !== "socket") return { kind: "none" };
  // Other systems than Linux have no such table, and no containers of such an engine.
  const table = parseMountTable(await readFile("/proc/self/mountinfo", "latin1").catch(() => ""));
  const id = ownContainerId(table);
  if (id === null) return { kind: "same" };
  const request = { method: "GET", path: containerPath({ id }, "json"), signal } as const;
  const { status, body } = await api.call("inspect the container of Glovebox", request, [404]);
  if (status === 404) return { kind: (await isThere(engineFolder)) ? "same" : "none" };
  const { Mounts } = body as { readonly Mounts?: readonly InspectedMount[] | null };
  return { kind: "container", mounts: Mounts ?? [], mountPoints: table.map(({ mountPoint }) => mountPoint) };
}

/** Mounts by the engine's paths, or, where it cannot reach them but may have copies, the folders to copy. */
interface ReachableMounts {
  readonly mounts: readonly MountSpec[];
  readonly copied: readonly MountSpec[];
}

/** @throws POLICY_DENIED for what exists only in this container and may not be copied, or is read-only to it */
export function reachableMounts(mounts: readonly MountSpec[], shared: SharedFiles): ReachableMounts {
  if (shared.kind === "same") return { mounts, copied: [] };
  // They are folders that never change, or the spec would have been refused.
  if (shared.kind === "none") return { mounts: [], copied: mounts };
  const places = mounts.map((mount) => pathOutside(mount.source, shared));
  const stuck = mounts.find((_, index) => places[index] === null);
  if (stuck !== undefined) {
    if (mounts.some(({ unchanging }) => unchanging !== true)) throw onlyInContainer(stuck);
    return { mounts: [], copied: mounts };
  }
  const reachable = mounts.map((mount, index) => {
    if (!mount.readOnly && places[index]?.writable !== true) throw readOnlyHere(mount);
    return { ...mount, source: places[index]?.path ?? mount.source };
  });
  return { mounts: reachable, copied: [] };
}

interface RootOf {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
}

/**
 * The folder of this machine that holds what a container's programs have written to its root: the upper layer of an overlay.
 * Null where there is none, or it is not ours to look at.
 */
export async function writtenFolder({ id, processId }: RootOf): Promise<string | null> {
  const table = parseMountTable(await readFile(`/proc/${processId}/mountinfo`, "latin1").catch(() => ""));
  // As for mounts that are verified: a process without the container's id is another machine's.
  if (!table.some(({ root }) => root.split("/").includes(id))) return null;
  const options = table.findLast(({ mountPoint }) => mountPoint === "/")?.options.split(",") ?? [];
  const folder = options.find((option) => option.startsWith("upperdir=/"))?.slice("upperdir=".length);
  if (folder === undefined) return null;
  const found = await stat(folder).catch(() => null);
  return found?.isDirectory() === true ? folder : null;
}

/** From the mount table, which everybody may read. */
function isMounted(table: readonly MountEntry[], target: string, { place }: MountIdentity): boolean {
  const mounted = table.findLast(({ mountPoint }) => mountPoint === target);
  return mounted !== undefined && mounted.device === place?.device && mounted.root === place.root;
}

/** By device and inode, where we may look: as root, or as the user of the process. */
async function isFound(root: string, target: string, { device, inode }: MountIdentity): Promise<boolean> {
  try {
    const found = await statBelow(root, target.split("/").filter(Boolean));
    return found.dev === device && found.ino === inode;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" || code === "EPERM";
  }
}

/** Name by name and through no link: an absolute one would lead to places of this machine. */
async function statBelow(folder: string, [name, ...deeper]: readonly string[]): Promise<BigIntStats> {
  const path = name === undefined ? folder : `${folder}/${name}`;
  await using handle = await open(path, openPathOnly | constants.O_NOFOLLOW);
  if (deeper.length === 0) return await handle.stat({ bigint: true });
  return await statBelow(`/proc/self/fd/${handle.fd}`, deeper);
}

async function isThere(folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  return (await stat(folder).catch(() => null))?.isDirectory() === true;
}

/** A sandbox gets no more of the machine than whoever started this container gave it. */
function readOnlyHere({ target }: MountSpec): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `What is to be mounted at ${target} for writing is mounted read-only in Glovebox's own container.`,
    {
      suggestion: "Ask for it with read_only, or mount it writable into Glovebox's container.",
      context: { rule: "read_only", target },
    },
  );
}

function onlyInContainer({ target }: MountSpec): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `What is to be mounted at ${target} is not shared with the machine of the engine: Glovebox runs in a container, and only that container has this folder or the folder of installed packages.`,
    {
      suggestion:
        "Start Glovebox's container with the folder mounted from the machine, such as ./projects:/projects:ro, and the folder of packages as a volume.",
      context: { rule: "not_shared", target },
    },
  );
}
