import { mkdir, lstat, open, readdir } from "node:fs/promises";
import { formatBytes } from "../base/bytes.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { usualName, type InstallPolicy, type Ecosystem } from "../policy/install-policy.ts";
import type { Limits } from "../policy/limits.ts";
import type { NetworkPolicy } from "../policy/network/network.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import type { PackageCache, PackageSetLease } from "./package-cache.ts";
import { describeInstalled, type PackageSetKey, type PackageSetRecord, type ResolvedPackage } from "./package-set.ts";
import { removeSealed, linkFile, makeReadable, layOutPythonSet } from "./set-folder.ts";
import { install, ownBytes, setBounds, type Installation, type RunTool } from "./install.ts";
import type { MinAge } from "./min-age.ts";
import type { PackageManager } from "./package-manager.ts";
import { Room, type Unpacked, type UnpackLimits } from "./unpack.ts";
import path from "node:path";
import type { Kit } from "../base/kit.ts";

/** What of a list is there already, in sets of shorter lists, and what is missing. */
interface Parts {
  readonly kept: readonly PackageSetRecord[];
  readonly missing: readonly string[];
}

/**
 * Chooses sets that together have as much of the list as possible, those with most of it first. Only sets of the same
 * installer, image, platform and principal, and of nothing but the list's own specs: what was never asked for cannot have
 * shaped what a run gets. Pure.
 * @param sets the most recently used first
 */
export function chooseParts(key: PackageSetKey, sets: readonly PackageSetRecord[]): Parts {
  const missing = new Set(key.requested);
  const fitting = sets.filter((set) => isOfSamePlace(set, key) && set.requested.every((spec) => missing.has(spec)));
  const kept: PackageSetRecord[] = [];
  for (const set of fitting.toSorted((a, b) => b.requested.length - a.requested.length)) {
    if (!set.requested.some((spec) => missing.has(spec))) continue;
    kept.push(set);
    for (const spec of set.requested) missing.delete(spec);
  }
  return { kept, missing: [...missing] };
}

function isOfSamePlace(a: PackageSetKey, b: PackageSetKey): boolean {
  const placeOf = ({ ecosystem, manager, platform, origin }: PackageSetKey): string =>
    JSON.stringify([ecosystem, manager, platform, origin.engine, origin.image, origin.onHost, origin.principal]);
  return placeOf(a) === placeOf(b);
}

/** A file that tells how its set was installed, so that it differs where its package does not. */
const tellsOfInstallation: Readonly<Record<Ecosystem, RegExp>> = {
  npm: /^\.package-lock\.json$/,
  python: /^[^/]+\.dist-info\/(?:RECORD|REQUESTED)$/,
};

/**
 * Links the sets into an empty folder, as if they had been installed together. Null, and a folder with something in it, when
 * they do not go together: another version of a package, a file that is not the same in both, or more than the limits.
 */
export async function composeSet(
  folder: string,
  sets: readonly Pick<PackageSetLease, "folder" | "record">[],
  { ecosystem, ...limits }: UnpackLimits & { readonly ecosystem: Ecosystem },
): Promise<Unpacked | null> {
  const packages = mergeVersions(sets, ecosystem);
  if (packages === null) return null;
  const target = ecosystem === "python" ? await layOutPythonSet(folder) : folder;
  const room = new Room(limits);
  const context = { ecosystem, room };
  try {
    for (const set of sets) {
      const source = ecosystem === "python" ? path.join(set.folder, path.basename(target)) : set.folder;
      if (!(await addFolder({ source, target, relative: "" }, context))) return null;
    }
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  return { packages, ...room.used };
}

/** Every package once; null when one has two versions. */
function mergeVersions(
  sets: readonly Pick<PackageSetLease, "record">[],
  ecosystem: Ecosystem,
): readonly ResolvedPackage[] | null {
  const byName = new Map<string, ResolvedPackage>();
  for (const each of sets.flatMap(({ record }) => record.packages)) {
    const name = usualName(each.name, ecosystem);
    if ((byName.get(name) ?? each).version !== each.version) return null;
    byName.set(name, each);
  }
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

interface Place {
  readonly source: string;
  readonly target: string;
  /** Of both, below their sets: with a slash at its end, unless it is empty. */
  readonly relative: string;
}

interface Composing {
  readonly ecosystem: Ecosystem;
  readonly room: Room;
}

/** False as soon as a file is another one than the target's. */
async function addFolder({ source, target, relative }: Place, composing: Composing): Promise<boolean> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const place = {
      ...{ source: path.join(source, entry.name), target: path.join(target, entry.name) },
      relative: `${relative}${entry.name}`,
    };
    if (entry.isDirectory()) {
      if ((await lstat(place.target).catch(() => null))?.isDirectory() !== true) {
        composing.room.takeFolder();
        // A file of that name, which only a hostile package has, ends here.
        if (!(await makeReadable(place.target).then(() => true, isTaken))) return false;
      }
      if (!(await addFolder({ ...place, relative: `${place.relative}/` }, composing))) return false;
    } else if (!(await addFile(place, composing))) return false;
  }
  return true;
}

function isTaken(error: NodeJS.ErrnoException): false {
  if (error.code === "EEXIST") return false;
  throw error;
}

async function addFile({ source, target, relative }: Place, { ecosystem, room }: Composing): Promise<boolean> {
  const { size } = await lstat(source);
  if (await linkFile(source, target)) {
    room.takeFile(relative, size);
    return true;
  }
  return tellsOfInstallation[ecosystem].test(relative) || isSameFile(source, target);
}

const pieceBytes = 1024 * 1024;

/** Whether both are files of the same bytes. */
async function isSameFile(a: string, b: string): Promise<boolean> {
  const [ofA, ofB] = await Promise.all([lstat(a), lstat(b)]);
  if (!ofA.isFile() || !ofB.isFile() || ofA.size !== ofB.size) return false;
  if (ofA.ino === ofB.ino && ofA.dev === ofB.dev) return true;
  await using first = await open(a);
  await using second = await open(b);
  const [one, two] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)];
  for (let at = 0; at < ofA.size; at += pieceBytes) {
    const [left, right] = await Promise.all([first.read(one, 0, pieceBytes, at), second.read(two, 0, pieceBytes, at)]);
    if (!one.subarray(0, left.bytesRead).equals(two.subarray(0, right.bytesRead))) return false;
  }
  return true;
}

export interface InstallSetOptions extends Pick<Kit, "logger" | "now"> {
  readonly cache: PackageCache;
  /** Those of installers, which take no place of a run's. */
  readonly sandboxes: Sandboxes;
  readonly policy: InstallPolicy;
  /** Of one installation. */
  readonly limits: Limits;
  /** Makes room after a set was added. */
  readonly prune: () => Promise<unknown>;
}

/** What installs a list, and for what. */
export interface InstallSetRequest extends Pick<Installation, "engine" | "ociRuntime" | "interpreter"> {
  /** As the caller named it. */
  readonly image: string;
  /** What the run itself may reach. */
  readonly runNetwork: NetworkPolicy;
  readonly runTool: RunTool;
}

export type InstallSetKey = PackageSetKey & { readonly manager: PackageManager };

export interface Told {
  readonly caller: Caller;
  /** Receives each step, for people, before it begins. */
  readonly onProgress: (message: string) => void;
}

/** Installs lists of packages into the cache, each package of them once. */
export class InstallSet {
  readonly #options: InstallSetOptions;

  constructor(options: InstallSetOptions) {
    this.#options = options;
  }

  /**
   * A list that the cache does not have. If it has shorter ones that are part of it, only the rest is installed, and the
   * set is made of all of them; if they do not go together, the whole list is installed.
   * @throws PACKAGE_INSTALL_FAILED, POLICY_DENIED, CANCELLED, and what opening a sandbox throws
   */
  async install(key: InstallSetKey, request: InstallSetRequest, told: Told): Promise<PackageSetLease> {
    const { cache, limits, logger, prune } = this.#options;
    await using parts = await this.#parts(key, request, told);
    const lease = await cache.install(
      key,
      async (folder) => {
        const bounds = { ecosystem: key.ecosystem, ...setBounds, maxBytes: limits.diskBytes };
        const composed = parts.sets.length > 0 ? await composeSet(folder, parts.sets, bounds) : null;
        if (composed !== null) return { ...composed, bytes: composed.bytes + ownBytes };
        // What a composition that failed has left.
        await removeSealed(folder);
        await mkdir(folder);
        return this.#installWhole(folder, key, request, told);
      },
      {
        signal: told.caller.signal,
        onWait: () => told.onProgress(`Waiting for another installation of ${key.requested.join(", ")}`),
      },
    );
    await prune().catch((error: unknown) => logger.warn({ err: error }, "the package cache could not be pruned"));
    return lease;
  }

  /**
   * Sets that make up the list, none when there is no part of it yet. What is missing is installed as a list of its own
   * before anybody takes this list's lock: who holds one lock never waits for another.
   */
  async #parts(key: InstallSetKey, request: InstallSetRequest, told: Told): Promise<HeldSets> {
    const { cache } = this.#options;
    const records = (await cache.list()).map(({ record }) => record);
    const { kept, missing } = chooseParts(key, records);
    const held = new HeldSets();
    try {
      const found = await Promise.all(kept.map(async (part) => held.add(await cache.find(part))));
      if (found.length === 0 || found.includes(null)) return await held.without();
      if (missing.length === 0) return held;
      const rest = { ...key, requested: missing };
      held.add((await cache.find(rest)) ?? (await this.install(rest, request, told)));
      return held;
    } catch (error) {
      await held.without();
      throw error;
    }
  }

  async #installWhole(
    folder: string,
    key: InstallSetKey,
    request: InstallSetRequest,
    { caller, onProgress }: Told,
  ): Promise<Unpacked> {
    const { requested: specs, origin } = key;
    if (origin.principal !== null) assertRegistriesAllowed(request, specs);
    onProgress(`Installing ${specs.join(", ")}`);
    const filled = await install(
      // The image by its digest: what its name stands for may change at any moment.
      { ...request, ...key, specs, image: origin.image, folder, minAge: this.#minAge(), onNote: onProgress },
      { ...this.#options, runTool: request.runTool },
      caller,
    );
    const installed = describeInstalled({ ...key, packages: filled.packages });
    onProgress(`Installed ${installed}: ${filled.files} files, ${formatBytes(filled.bytes)}`);
    return filled;
  }

  #minAge(): MinAge | null {
    const { policy, now } = this.#options;
    if (policy.minAgeMs === 0) return null;
    return { ms: policy.minAgeMs, beforeMs: now() - policy.minAgeMs, isDemanded: policy.isMinAgeDemanded };
  }
}

/** Sets that stay in the cache until this is disposed of. */
class HeldSets implements AsyncDisposable {
  readonly sets: PackageSetLease[] = [];

  add(lease: PackageSetLease | null): PackageSetLease | null {
    if (lease !== null) this.sets.push(lease);
    return lease;
  }

  /** Lets go of all. */
  async without(): Promise<this> {
    await Promise.all(this.sets.splice(0).map((set) => set[Symbol.asyncDispose]()));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.without();
  }
}

export function includesRegistries({ kind }: NetworkPolicy): boolean {
  return kind === "registries" || kind === "open";
}

/** An installer has the registries, and an image is code. @throws POLICY_DENIED */
function assertRegistriesAllowed({ image, runNetwork }: InstallSetRequest, specs: readonly string[]): void {
  if (includesRegistries(runNetwork)) return;
  throw new GloveboxError(
    "POLICY_DENIED",
    `Installing ${specs.join(", ")} with the tools of ${image} would let that image reach the package registries, which the run's network policy excludes.`,
    {
      suggestion:
        'Ask for network: "registries", leave the image out, or have the operator make it one of the images of the settings (`images`).',
      context: { field: "packages", image, network: runNetwork.kind, setting: "images" },
    },
  );
}
