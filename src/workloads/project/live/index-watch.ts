import type { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import { TrackedFiles } from "../tracked-files.ts";
import { isSameTracked, type TrackedFolder } from "../tracked-tree.ts";
import { watchFolder, type FolderWatch } from "./folder-watches.ts";

/** Follows what the repository of a project tracks, which may change without a change of the project's own files. */
export class IndexWatch {
  readonly #root: HostFolder;
  readonly #onChange: () => void;
  #tracked: TrackedFolder | null = null;
  #watch: FolderWatch | null = null;
  #isMarked = false;
  #isClosed = false;

  /** The caller keeps ownership of the root; `onChange`: the index was written, perhaps with the same names. */
  constructor(root: HostFolder, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Reads and watches it anew. To be called before the project is looked through, so that no change is missed. */
  async refresh(): Promise<void> {
    const files = await this.#files();
    const found = await files.gitFolder(this.#root, "");
    this.#watch?.close();
    this.#watch = null;
    if (found !== null && typeof found !== "string") {
      await using git = found;
      if (!this.#isClosed) this.#watch = watchFolder(git.folder, (name) => this.#mark(name));
    }
    this.#isMarked = false;
    this.#tracked = await files.below(this.#root, "");
  }

  /** Whether git tracks other files than before. */
  async hasChanged(): Promise<boolean> {
    if (!this.#isMarked) return false;
    this.#isMarked = false;
    const before = this.#tracked;
    this.#tracked = await (await this.#files()).below(this.#root, "");
    return !isSameTracked(before, this.#tracked);
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
  }

  /** What is not known, the look through the project tells. */
  #files(): Promise<TrackedFiles> {
    return TrackedFiles.of(this.#root, () => undefined);
  }

  #mark(name: string | null): void {
    if (name !== null && name !== "index") return;
    this.#isMarked = true;
    this.#onChange();
  }
}
