import { access, mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { createId } from "../base/id.ts";
import { takeFileLock, takeFreeFileLock } from "../base/file-lock.ts";
import type { Ecosystem } from "../policy/install-policy.ts";
import { layOutPythonSet, linkFile, makeReadable } from "./set-folder.ts";
import type { ResolvedPackage } from "./package-set.ts";

/** What an installed set has for a view. */
export interface ViewedSet {
  readonly ecosystem: Ecosystem;
  /** Real path of the set's folder. */
  readonly folder: string;
  readonly packages: readonly ResolvedPackage[];
}

const lockEnding = ".lock";

/**
 * The packages of one sandbox that lives on, as folders of this machine which it sees read-only: what is linked into them
 * can be imported at once, and what is there never changes. Its files are the cache's own by hard links, so no path leads
 * out of it.
 */
export class PackageView implements AsyncDisposable {
  readonly #root: string;
  readonly #lock: Disposable;
  readonly #versions: Readonly<Record<Ecosystem, Map<string, string>>> = { npm: new Map(), python: new Map() };

  private constructor(root: string, lock: Disposable) {
    this.#root = root;
    this.#lock = lock;
  }

  /** An empty one below the folder, which must be on the cache's own file system and used by nothing else. */
  static async open(folder: string): Promise<PackageView> {
    const root = path.join(folder, createId("view"));
    const lock = await takeFileLock({ file: `${root}${lockEnding}` });
    const view = new PackageView(root, lock);
    try {
      await mkdir(root, { mode: 0o700 });
      await Promise.all([view.folderOf("npm"), view.folderOf("python"), view.#staging].map(makeReadable));
      await layOutPythonSet(view.folderOf("python"));
      return view;
    } catch (error) {
      await view[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Removes those left behind by processes that have ended. */
  static async sweep(folder: string): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((each) => each.endsWith(lockEnding))) {
      const file = path.join(folder, name);
      const lock = takeFreeFileLock(file);
      if (lock !== null) await removeView(file.slice(0, -lockEnding.length), lock);
    }
  }

  folderOf(ecosystem: Ecosystem): string {
    return path.join(this.#root, ecosystem);
  }

  get #staging(): string {
    return path.join(this.#root, "new");
  }

  /** Whether the set has no other version of a package that is already here, as programs may be using it. */
  accepts({ ecosystem, packages }: ViewedSet): boolean {
    const here = this.#versions[ecosystem];
    return packages.every(({ name, version }) => (here.get(name) ?? version) === version);
  }

  /**
   * Links what the set has and the view has not; what is here stays, also where a package brings a file of that name.
   * Gives a path of what is new, relative to the ecosystem's folder, or null when nothing is.
   */
  async add({ ecosystem, folder, packages }: ViewedSet): Promise<string | null> {
    const inner = ecosystem === "python" ? "lib" : "";
    const [source, target] = [path.join(folder, inner), path.join(this.folderOf(ecosystem), inner)];
    const added = await this.#merge(source, target, ecosystem === "npm");
    for (const { name, version } of packages) this.#versions[ecosystem].set(name, version);
    return added === null ? null : path.posix.join(inner, added);
  }

  /** A folder that is not here appears whole, so that no program finds half a package. */
  async #merge(source: string, target: string, isNpm: boolean): Promise<string | null> {
    let added: string | null = null;
    for (const entry of await readdir(source, { withFileTypes: true })) {
      const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)];
      const isNew = entry.isDirectory() ? await this.#placeFolder(from, to) : await linkFile(from, to);
      if (isNew) added ??= entry.name;
      // Of npm's a folder is a package, which is whole already, save those of scopes and of commands.
      else if (entry.isDirectory() && (!isNpm || /^[@.]/.test(entry.name))) {
        const deeper = await this.#merge(from, to, isNpm);
        if (deeper !== null) added ??= path.posix.join(entry.name, deeper);
      }
    }
    return added;
  }

  async #placeFolder(source: string, target: string): Promise<boolean> {
    if (await isThere(target)) return false;
    const staged = path.join(this.#staging, createId("new"));
    await linkFolder(source, staged);
    await rename(staged, target);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeView(this.#root, this.#lock);
  }
}

/** The lock's files go before the lock does, and no other view ever has their names. */
async function removeView(root: string, lock: Disposable): Promise<void> {
  try {
    await rm(root, { recursive: true, force: true });
    // SQLite may have written the second beside the lock.
    for (const ending of [lockEnding, `${lockEnding}-journal`]) await rm(`${root}${ending}`, { force: true });
  } finally {
    lock[Symbol.dispose]();
  }
}

async function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}

async function linkFolder(source: string, target: string): Promise<void> {
  await makeReadable(target);
  const entries = await readdir(source, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)];
      await (entry.isDirectory() ? linkFolder(from, to) : linkFile(from, to));
    }),
  );
}
