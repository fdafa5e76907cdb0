import path from "node:path";
import { HostFolder } from "../../base/host-folder.ts";
import { isIgnored, rulesOutside, type Rules } from "./ignore-rules.ts";
import { readPlainBytes } from "./read-project.ts";
import { readTracked, type TrackedFolder, type TrackedRoom } from "./tracked-tree.ts";
import { lstat, realpath } from "node:fs/promises";
import { FolderWay } from "../../sandbox/copy/on-host.ts";

/** Names from a folder down to a place below it, both absolute and normal; null: it is not below. */
export function namesBelow(folder: string, place: string, platform: NodeJS.Platform): readonly string[] | null {
  const paths = pathsOf(platform);
  const between = paths.relative(folder, place);
  if (between === "" || paths.isAbsolute(between)) return null;
  const names = between.split(paths.sep);
  return names[0] === ".." ? null : names;
}

/** The work tree in whose `.git` a place is, by its path alone; null: in none. */
export function workTreeOf(place: string, platform: NodeJS.Platform): string | null {
  const { sep } = pathsOf(platform);
  const end = place.indexOf(`${sep}.git${sep}`);
  return end <= 0 ? null : place.slice(0, end);
}

function pathsOf(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** Git's own folder for a work tree. */
interface GitFolder extends AsyncDisposable {
  /** The one with the index, open. */
  readonly folder: HostFolder;
  /** Absolute path of the work tree. */
  readonly treePath: string;
  /** The project's folder within the work tree, with a slash at its end; empty: the work tree lies in the project. */
  readonly prefix: string;
}

/** Why a work tree's git folder is not read, after its name. */
type GitFolderFault = "is neither a folder nor a plain file" | "leads out of the project" | "is not readable";

/** Of a `.git` that is a file, and of a file that leads back to it. */
const maxPointerBytes = 4_096;
const root = 0;
/** Folders above a project in which its repository is looked for. */
const maxAbove = 64;

/**
 * Finds git's folders for a project's work trees without running git, and reads nothing that only the project's own files
 * name: a `.git` that is a file leads to a folder in the project, in git's folder of a work tree around the project, or to
 * that of a linked work tree, which has to name the project's `.git` itself.
 */
class GitFolders {
  readonly #root: HostFolder;
  /** Null: it is gone, or cannot be told. */
  readonly #rootPath: string | null;
  /** Git's folders of linked work trees that have named the project's `.git`. */
  readonly #linked: string[] = [];

  private constructor(root: HostFolder, rootPath: string | null) {
    this.#root = root;
    this.#rootPath = rootPath;
  }

  /** `root` is the project's folder, and stays open as long as this is used. */
  static async of(root: HostFolder): Promise<GitFolders> {
    return new GitFolders(root, await realpath(root.self).catch(() => null));
  }

  /** That of the work tree which this folder of the project is; null: it is none. */
  async at(folder: HostFolder, prefix: string): Promise<GitFolder | GitFolderFault | null> {
    return this.#open(folder, path.resolve(this.#rootPath ?? "", prefix), "", () => true);
  }

  /**
   * That of the work tree around the project: of the nearest folder above it, on the same file system, that has one. It is
   * left alone if it belongs to neither the project's owner nor root: who may write above the project could else choose what
   * is copied.
   */
  async around(): Promise<GitFolder | GitFolderFault | null> {
    const rootPath = this.#rootPath;
    if (rootPath === null) return null;
    const { dev, uid } = await lstat(this.#root.self);
    const mayRead = (owner: number): boolean => owner === uid || owner === root;
    let place = rootPath;
    for (let levels = 0; levels < maxAbove; levels += 1) {
      const above = path.dirname(place);
      if (above === place) return null;
      place = above;
      try {
        if ((await lstat(place)).dev !== dev) return null;
        if ((await lstat(path.join(place, ".git")).catch(unlessMissing)) === null) continue;
        await using folder = await HostFolder.pass(place, this.#root.platform);
        const below = namesBelow(place, rootPath, this.#root.platform) ?? [];
        const found = await this.#open(folder, place, `${below.join("/")}/`, mayRead);
        if (found !== null) return found;
      } catch (error) {
        unlessMissing(error);
      }
    }
    return null;
  }

  async #open(
    tree: HostFolder,
    treePath: string,
    prefix: string,
    mayRead: (owner: number) => boolean,
  ): Promise<GitFolder | GitFolderFault | null> {
    const made = await lstat(tree.at(".git")).catch(unlessMissing);
    if (made === null || !mayRead(made.uid)) return null;
    if (made.isDirectory()) {
      const folder = await tree.enter(".git").catch(unlessMissing);
      if (folder === null) return "is not readable";
      // Git takes no other folder for a repository's.
      const isGits = (await lstat(folder.at("HEAD")).catch(unlessMissing)) !== null;
      if (isGits && mayRead((await lstat(folder.self)).uid))
        return { folder, treePath, prefix, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
      await folder[Symbol.asyncDispose]();
      return null;
    }
    if (!made.isFile()) return "is neither a folder nor a plain file";
    const bytes = await readPlainBytes(tree, ".git", maxPointerBytes);
    if (typeof bytes === "string") return "is not readable";
    const named = /^gitdir: (.+?)\r?\n?$/.exec(Buffer.from(bytes).toString("utf8"))?.[1];
    if (named === undefined || named.includes("\0")) return null;
    // A name on another machine is not even looked for.
    const way = /^[\\/]{2}/.test(named) ? null : await this.#lead(path.resolve(treePath, named), treePath);
    if (way === null) return "leads out of the project";
    const { root, names } = way;
    const inside = new FolderWay(root);
    const close = async (): Promise<void> => {
      await inside[Symbol.asyncDispose]();
      if (root !== this.#root) await root[Symbol.asyncDispose]();
    };
    const folder = await inside.enter(names).catch(async (error: unknown) => {
      await close();
      return unlessMissing(error);
    });
    return folder === null ? "leads out of the project" : { folder, treePath, prefix, [Symbol.asyncDispose]: close };
  }

  /** From where, and by which names none of which is a link, a place is reached; null: it is not to be read. */
  async #lead(
    place: string,
    treePath: string,
  ): Promise<{ readonly root: HostFolder; readonly names: readonly string[] } | null> {
    const { platform } = this.#root;
    if (this.#rootPath === null) return null;
    const own = namesBelow(this.#rootPath, place, platform);
    if (own !== null) return { root: this.#root, names: own };
    for (const linked of this.#linked) {
      const names = namesBelow(linked, place, platform);
      if (names !== null) return { root: await HostFolder.open(linked, platform), names };
    }
    const around = workTreeOf(place, platform);
    if (around !== null && namesBelow(around, treePath, platform) !== null)
      return { root: await HostFolder.pass(around, platform), names: namesBelow(around, place, platform) ?? [] };
    if (path.basename(path.dirname(place)) !== "worktrees") return null;
    const root = await HostFolder.open(place, platform).catch(unlessMissing);
    if (root === null) return null;
    const back = await readPlainBytes(root, "gitdir", maxPointerBytes).catch(() => "closed" as const);
    const words = typeof back === "string" ? "" : Buffer.from(back).toString("utf8").trim();
    const named = await realpath(path.dirname(path.resolve(place, words))).catch(unlessMissing);
    if (words !== "" && path.basename(words) === ".git" && named === treePath) {
      this.#linked.push(place);
      return { root, names: [] };
    }
    await root[Symbol.asyncDispose]();
    return null;
  }
}

/** Null for what is not there, is no folder, or is not open to us. */
function unlessMissing(error: unknown): null {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG", "EAGAIN"].includes(code)) return null;
  throw error;
}

/** Of one index, and of the part that a split one shares: several times what a copy's 100,000 entries take. */
const maxIndexBytes = 32 * 1024 * 1024;
/** Of all indexes of one copy. */
const maxRepositories = 64;
const maxTracked: TrackedRoom = { names: 500_000, entryBytes: 64 * 1024 * 1024 };

/** Why it is not known what git tracks in a work tree. */
type Fault = GitFolderFault | "has an index of more than 32 MiB" | "has an index that is not understood" | TooMany;
type TooMany = "is one repository of more than 64" | "has an index of more than 500,000 files and folders";

/** What git tracks in a project and in the repositories within it, by their indexes alone. */
export class TrackedFiles {
  readonly #root: HostFolder;
  readonly #folders: GitFolders;
  readonly #onUnknown: (sentence: string) => void;
  readonly #room: TrackedRoom = { ...maxTracked };
  #repositories = 0;
  #rulesAbove: readonly Rules[] = [];

  /** `root` is the project's folder, which stays open; `onUnknown` is told where it is not known what git tracks. */
  static async of(root: HostFolder, onUnknown: (sentence: string) => void): Promise<TrackedFiles> {
    return new TrackedFiles(root, await GitFolders.of(root), onUnknown);
  }

  private constructor(root: HostFolder, folders: GitFolders, onUnknown: (sentence: string) => void) {
    this.#root = root;
    this.#folders = folders;
    this.#onUnknown = onUnknown;
  }

  /**
   * What the repository of which this folder of the project is the work tree tracks below it; for the project's own folder
   * (`prefix` is empty) also the one that it lies in. Null: there is none, or it is not known.
   */
  async below(folder: HostFolder, prefix: string): Promise<TrackedFolder | null> {
    const found = await this.gitFolder(folder, prefix);
    if (found === null) return null;
    const tracked = typeof found === "string" ? found : await this.#read(found);
    if (typeof tracked !== "string") return tracked;
    const name = JSON.stringify(`${prefix}.git`.slice(-200));
    this.#onUnknown(
      `${name} ${tracked}, so what git tracks there is not known: what .gitignore names is left out, tracked files too.`,
    );
    return null;
  }

  /**
   * Whether rules above the project ignore a path, which leave nothing out of a copy but make it no surprise: only where the
   * project lies in a repository. To be asked after `below`.
   */
  isIgnoredFromAbove(name: string, isFolder: boolean): boolean {
    return isIgnored(this.#rulesAbove, name, isFolder);
  }

  /** Git's folder of that repository. */
  async gitFolder(folder: HostFolder, prefix: string): Promise<GitFolder | GitFolderFault | null> {
    const own = await this.#folders.at(folder, prefix);
    return own === null && prefix === "" ? this.#folders.around() : own;
  }

  async #read(found: GitFolder): Promise<TrackedFolder | Fault> {
    await using git = found;
    if (git.prefix !== "") this.#rulesAbove = await this.#readRulesAbove(git);
    this.#repositories += 1;
    if (this.#repositories > maxRepositories) return "is one repository of more than 64";
    const bytes = await readPlainBytes(git.folder, "index", maxIndexBytes);
    if (bytes === "large") return "has an index of more than 32 MiB";
    // A repository without an index tracks nothing yet.
    if (typeof bytes === "string" && bytes !== "none") return "is not readable";
    const readShared = async (name: string): Promise<Uint8Array | null> => {
      const shared = await readPlainBytes(git.folder, name, maxIndexBytes);
      return typeof shared === "string" ? null : shared;
    };
    const index = typeof bytes === "string" ? new Uint8Array() : bytes;
    const tracked = await readTracked(index, { room: this.#room, prefix: git.prefix, readShared });
    if (tracked === "form") return "has an index that is not understood";
    return tracked === "large" ? "has an index of more than 500,000 files and folders" : tracked;
  }

  async #readRulesAbove({ treePath, prefix }: GitFolder): Promise<readonly Rules[]> {
    const names = prefix.split("/").slice(0, -1);
    let rules: readonly Rules[] = [];
    for (const depth of names.keys()) {
      const place = path.join(treePath, ...names.slice(0, depth));
      await using folder = await HostFolder.pass(place, this.#root.platform).catch(() => null);
      // Moved meanwhile: it is only asked what is worth a warning.
      if (folder === null) return rules;
      rules = await rulesOutside(folder, `${names.slice(depth).join("/")}/`, rules);
    }
    return rules;
  }
}
