import { createHash } from "node:crypto";
import {
  access,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { openOwnFolder } from "../base/own-folder.ts";
import { createId } from "../base/id.ts";
import { isAlive, type ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import { takeFileLock, takeFreeFileLock } from "../base/file-lock.ts";
import { packageSetId, type PackageSetKey, type PackageSetRecord } from "./package-set.ts";
import { removeSealed, seal } from "./set-folder.ts";

export interface PackageCacheOptions {
  /** Its folder; created if missing, for this user only. */
  readonly folder: string;
  /** This user; null where the system has no user ids. */
  readonly uid: number | null;
  /** This process. */
  readonly identity: ProcessIdentity;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longer than the writing of a mark takes. */
const writingMs = 60_000;

/** A set in use, which is kept that long. */
export interface PackageSetLease extends AsyncDisposable {
  readonly record: PackageSetRecord;
  /** Real path of the folder with the packages. */
  readonly folder: string;
}

/** One set as it lies in the cache. */
export interface CachedSet {
  readonly id: string;
  readonly record: PackageSetRecord;
  readonly lastUsedAtMs: number;
  readonly inUse: boolean;
}

export interface InstallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once when another run is installing the same set. */
  readonly onWait?: (() => void) | undefined;
}

/** Fills an empty folder and reports its content. */
export type FillFolder = (
  folder: string,
) => Promise<Omit<PackageSetRecord, keyof PackageSetKey | "version" | "createdAtMs">>;

/** Lock files are never removed, so ids share this many. */
const locks = 4096;

/** Marks of processes on other machines, which cannot be checked, count for this long: a day. */
const foreignMarkMs = 24 * 3_600_000;

/**
 * Installed packages on disk, shared by all processes of a user (SPEC PK4): a folder for each set of packages that was
 * asked for together. A set appears whole or not at all, never changes, and is read-only; marks of use keep it.
 *
 * Below its folder: `sets`, by id; `new/ID`, one in the making; `old/ID`, one that goes; `uses`, the marks; `locks`.
 * What is in the making or goes belongs to the holder of the id's lock, so that whoever gets it next knows the rest to be
 * left over.
 */
export class PackageCache {
  readonly #options: PackageCacheOptions;
  #root: Promise<string> | undefined;

  constructor(options: PackageCacheOptions) {
    this.#options = options;
  }

  /** The set, if it exists; uses no network and no lock. */
  async find(key: PackageSetKey): Promise<PackageSetLease | null> {
    return this.#use(packageSetId(key));
  }

  /**
   * The set, which `fill` installs if it does not exist. Only one such installation runs at a time, across all
   * processes of the machine; the others wait for it. What a failed one leaves is removed.
   * @throws CANCELLED, and what `fill` throws
   */
  async install(key: PackageSetKey, fill: FillFolder, options: InstallOptions = {}): Promise<PackageSetLease> {
    const root = await this.open();
    const id = packageSetId(key);
    using _ = await takeFileLock({ file: lockFile(root, id), ...options });
    await removeSealed(path.join(root, "old", id));
    const present = await this.#use(id);
    if (present !== null) return present;
    await this.#make(root, key, fill);
    const made = await this.#use(id);
    if (made === null) throw new Error("an installed set is gone");
    return made;
  }

  /** Every set, most recently used first. */
  async list(): Promise<readonly CachedSet[]> {
    const root = await this.open();
    const ids = await readdir(path.join(root, "sets"));
    const sets = await Promise.all(ids.map((id) => this.#read(root, id)));
    return sets.filter((set) => set !== null).toSorted((a, b) => b.lastUsedAtMs - a.lastUsedAtMs);
  }

  /** Removes the sets not used for longest until the rest has the size, and what dead processes left; gives those removed. */
  async prune(maxBytes: number): Promise<readonly CachedSet[]> {
    const root = await this.open();
    await this.#sweep(root);
    const removed: CachedSet[] = [];
    let left = 0;
    for (const set of await this.list()) {
      if (left + set.record.bytes <= maxBytes) left += set.record.bytes;
      else if (await this.#remove(root, set.id)) removed.push(set);
      else left += set.record.bytes;
    }
    return removed;
  }

  async #make(root: string, key: PackageSetKey, fill: FillFolder): Promise<void> {
    const id = packageSetId(key);
    const [staging, set] = [path.join(root, "new", id), path.join(root, "sets", id)];
    const files = path.join(staging, "files");
    await removeSealed(staging);
    await mkdir(files, { recursive: true });
    try {
      const filled = await fill(files);
      const { ecosystem, manager, origin, platform, requested } = key;
      const record: PackageSetRecord = {
        ...{ version: 2, ecosystem, manager, origin, platform, requested },
        ...filled,
        createdAtMs: this.#options.now(),
      };
      await seal(files);
      await writeFile(path.join(staging, "set.json"), JSON.stringify(record, null, 2));
      // Anything that is not one of our sets is in the way.
      await removeSealed(set);
      await rename(staging, set);
    } finally {
      await removeSealed(staging);
    }
  }

  /**
   * Marks first and looks then, while `#remove` announces first and looks for marks then: one of them sees the other.
   * The announcement is looked for before the set: in the other order a whole removal fits between the two.
   */
  async #use(id: string): Promise<PackageSetLease | null> {
    const root = await this.open();
    const mark = path.join(root, "uses", `${id}.${createId("use")}`);
    await writeFile(mark, JSON.stringify(this.#options.identity));
    const release = (): Promise<void> => rm(mark, { force: true });
    const folder = path.join(root, "sets", id);
    const goes = await exists(path.join(root, "old", id));
    const set = goes ? null : await this.#read(root, id);
    if (set === null) {
      await release();
      return null;
    }
    const now = this.#options.now() / 1000;
    await utimes(folder, now, now);
    return { record: set.record, folder: path.join(folder, "files"), [Symbol.asyncDispose]: release };
  }

  /** False if it is in use, or being installed or removed. */
  async #remove(root: string, id: string): Promise<boolean> {
    using lock = takeFreeFileLock(lockFile(root, id));
    if (lock === null) return false;
    const old = path.join(root, "old", id);
    await removeSealed(old);
    await mkdir(old);
    if (await this.#isUsed(root, id)) {
      await rmdir(old);
      return false;
    }
    const set = path.join(root, "sets", id);
    // Missing: another process has removed it.
    if (await exists(set)) await rename(set, path.join(old, "set"));
    await removeSealed(old);
    return true;
  }

  async #read(root: string, id: string): Promise<CachedSet | null> {
    const folder = path.join(root, "sets", id);
    try {
      const [text, { mtimeMs }] = await Promise.all([readFile(path.join(folder, "set.json"), "utf8"), stat(folder)]);
      const record = JSON.parse(text) as PackageSetRecord;
      if (record.version !== 2) return null;
      return { id, record, lastUsedAtMs: mtimeMs, inUse: await this.#isUsed(root, id) };
    } catch {
      // Missing, or not one of our sets.
      return null;
    }
  }

  /** Forgets marks of the dead on its way. */
  async #isUsed(root: string, id: string): Promise<boolean> {
    const uses = path.join(root, "uses");
    const marks = (await readdir(uses)).filter((name) => name.startsWith(`${id}.`));
    const states = await Promise.all(marks.map((name) => this.#isHeld(path.join(uses, name))));
    return states.includes(true);
  }

  async #isHeld(mark: string): Promise<boolean> {
    const holder = await readIdentity(mark);
    const { identity, now } = this.#options;
    const { mtimeMs } = await stat(mark).catch(() => ({ mtimeMs: 0 }));
    // Being written this very moment, or by a process that died over it.
    if (holder === null && now() - mtimeMs < writingMs) return false;
    const alive = holder === null ? false : isAlive(holder, identity);
    if (alive === true) return true;
    if (alive === null && now() - mtimeMs < foreignMarkMs) return true;
    await rm(mark, { force: true });
    return false;
  }

  /** Removes what processes that have died were making, removing or using, and what is no set of this version. */
  async #sweep(root: string): Promise<void> {
    for (const place of ["new", "old"]) {
      for (const name of await readdir(path.join(root, place))) {
        using lock = takeFreeFileLock(lockFile(root, name));
        if (lock !== null) await removeSealed(path.join(root, place, name));
      }
    }
    for (const id of await readdir(path.join(root, "sets"))) {
      if ((await this.#read(root, id)) === null) await this.#remove(root, id);
    }
    for (const mark of await readdir(path.join(root, "uses"))) await this.#isHeld(path.join(root, "uses", mark));
  }

  /** The real path of the cache, whose folders are there. */
  open(): Promise<string> {
    this.#root ??= this.#prepare();
    this.#root.catch(() => (this.#root = undefined));
    return this.#root;
  }

  async #prepare(): Promise<string> {
    const { folder, uid } = this.#options;
    const remedy = "set GLOVEBOX_PACKAGES_DIR to another folder";
    const root = await openOwnFolder(await throughOwnLink(folder, uid), {
      what: "the folder of installed packages",
      remedy,
      uid,
      mode: 0o700,
      maxMode: 0o755,
    });
    await Promise.all(
      ["sets", "uses", "locks", "new", "old"].map((name) => mkdir(path.join(root, name), { recursive: true })),
    );
    return root;
  }
}

/** A link of this user's own may lead to another disk. */
async function throughOwnLink(folder: string, uid: number | null): Promise<string> {
  const stats = await lstat(folder).catch(() => null);
  return stats?.isSymbolicLink() && (uid === null || stats.uid === uid) ? realpath(folder) : folder;
}

function lockFile(root: string, id: string): string {
  const number = createHash("sha256").update(id).digest().readUInt32BE() % locks;
  return path.join(root, "locks", `${number}.lock`);
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}

async function readIdentity(file: string): Promise<ProcessIdentity | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as ProcessIdentity;
  } catch {
    // Gone, or being written this very moment.
    return null;
  }
}
