import path from "node:path";
import { HostFolder } from "../../sandbox/copy/host-folder.ts";
import { GitFolders, type GitFolder, type GitFolderFault } from "./git-folders.ts";
import { isIgnored, rulesOutside, type Rules } from "./ignore-rules.ts";
import { readPlainBytes } from "./read-plain-bytes.ts";
import { readTracked, type TrackedFolder, type TrackedRoom } from "./tracked-tree.ts";

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
