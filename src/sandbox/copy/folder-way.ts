import type { HostFolder } from "../../base/host-folder.ts";

/**
 * The path down to a folder of this machine, each name looked up in the folder above it; what two paths share stays
 * open.
 */
export class FolderWay implements AsyncDisposable {
  readonly #root: HostFolder;
  readonly #way: { readonly name: string; readonly folder: HostFolder }[] = [];

  /** The caller keeps ownership of the root. */
  constructor(root: HostFolder) {
    this.#root = root;
  }

  /** The folder of these names, open until another is entered. @throws Node's error, ENOTDIR also for a link */
  async enter(names: readonly string[]): Promise<HostFolder> {
    const other = this.#way.findIndex(({ name }, index) => name !== names[index]);
    await this.#leave(other < 0 ? Math.min(this.#way.length, names.length) : other);
    for (const name of names.slice(this.#way.length)) {
      this.#way.push({ name, folder: await this.#current.enter(name) });
    }
    return this.#current;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave(0);
  }

  get #current(): HostFolder {
    return this.#way.at(-1)?.folder ?? this.#root;
  }

  async #leave(depth: number): Promise<void> {
    for (const { folder } of this.#way.splice(depth).toReversed()) await folder[Symbol.asyncDispose]();
  }
}
