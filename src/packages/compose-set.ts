import { lstat, open, readdir } from "node:fs/promises";
import path from "node:path";
import type { Ecosystem } from "../policy/package-specs.ts";
import { linkFile, makeReadable } from "./cache/link-file.ts";
import type { PackageSetLease } from "./cache/package-cache.ts";
import type { PackageSetKey, PackageSetRecord } from "./cache/package-set.ts";
import { Room, type Unpacked, type UnpackLimits } from "./install/unpack.ts";
import { usualName } from "./installed-specs.ts";
import { layOutPythonSet } from "./python/set-layout.ts";
import type { ResolvedPackage } from "./resolved-package.ts";

/** What of a list is there already, in sets of shorter lists, and what is missing. */
export interface Parts {
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
