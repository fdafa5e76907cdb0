import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { FolderWay } from "../../sandbox/copy/folder-way.ts";
import { HostFolder } from "../../sandbox/copy/host-folder.ts";
import { namesBelow, workTreeOf } from "./names-below.ts";
import { readPlainBytes } from "./read-plain-bytes.ts";

/** Git's own folder for a work tree. */
export interface GitFolder extends AsyncDisposable {
  /** The one with the index, open. */
  readonly folder: HostFolder;
  /** Absolute path of the work tree. */
  readonly treePath: string;
  /** The project's folder within the work tree, with a slash at its end; empty: the work tree lies in the project. */
  readonly prefix: string;
}

/** Why a work tree's git folder is not read, after its name. */
export type GitFolderFault = "is neither a folder nor a plain file" | "leads out of the project" | "is not readable";

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
export class GitFolders {
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
