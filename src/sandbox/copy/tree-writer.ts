import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, rm, symlink } from "node:fs/promises";
import { createId } from "../../base/id.ts";
import type { TreeEntry, TreeFile } from "../files/file-facts.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { onHost } from "./on-host.ts";
import type { HostFolder } from "./host-folder.ts";
import { safeNames, staysInside } from "./safe-path.ts";

/** A folder on the way to the present entry; `facts` when the copy has made it, to be set when it is left. */
interface OpenFolder {
  readonly name: string;
  readonly folder: HostFolder;
  readonly facts: { readonly mode: number; readonly modifiedAtMs: number } | null;
}

/** What a tree comes to is counted before it is written, and what is left out is noted. `CopyBudget` is one. */
export type TreeTally = Pick<CopyBudget, "take" | "arrive" | "skip">;

export interface TreeWriterOptions {
  readonly budget: TreeTally;
  readonly platform: NodeJS.Platform;
  /** Whose all of it becomes, where links are left out; default: this process's user's. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Whether permissions are set as they are told; default: the user's umask narrows them. */
  readonly exactModes?: boolean | undefined;
  /** Default: those that stay inside the tree. */
  readonly allowsLink?: ((target: string, names: readonly string[]) => boolean) | undefined;
  /** Says in whose terms work on the files fails; default: this machine's. */
  readonly onFailure?: (<T>(path: string, work: Promise<T>) => Promise<T>) | undefined;
}

/**
 * Writes a tree that comes out of a sandbox below a folder of this machine, and nowhere else: its names go down only, no
 * link is followed, neither one of the tree nor one that is there. Files take their place whole; a link or file there is
 * replaced, a folder is kept and gets what is new. Of the modes only permissions pass that the user's umask allows.
 */
export class TreeWriter implements AsyncDisposable {
  readonly #root: HostFolder;
  readonly #budget: TreeTally;
  readonly #options: TreeWriterOptions;
  /** Digests of the paths that were written: the paths themselves could be 4 KiB each. */
  readonly #files = new Set<string>();
  #way: OpenFolder[] = [];

  constructor(root: HostFolder, options: TreeWriterOptions) {
    this.#root = root;
    this.#budget = options.budget;
    this.#options = options;
  }

  /** Writes an entry at `prefix` and its own path. @throws POLICY_DENIED, INVALID_REQUEST, PERMISSION_DENIED, NOT_FOUND */
  async write(entry: TreeEntry, prefix: readonly string[]): Promise<void> {
    const names = [...prefix, ...safeNames(entry.path, this.#options.platform)];
    const name = names.at(-1);
    // The folder that was named itself.
    if (name === undefined) return;
    const { onFailure = onHost } = this.#options;
    const parent = await onFailure(names.join("/"), this.#enter(names.slice(0, -1)));
    await onFailure(names.join("/"), this.#put(entry, parent, names, prefix.length));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave(0);
  }

  async #put(entry: TreeEntry, parent: HostFolder, names: readonly string[], depth: number): Promise<void> {
    const name = names.at(-1) ?? "";
    const path = names.join("/");
    switch (entry.kind) {
      case "folder": {
        this.#budget.take(0);
        // Its owner must be able to fill it.
        const isNew = await parent.make(name, (entry.mode & 0o777) | 0o700);
        const folder = await parent.enter(name);
        if (isNew && this.#options.owner !== undefined) await folder.giveTo(this.#options.owner);
        const facts = isNew ? { mode: entry.mode, modifiedAtMs: entry.modifiedAtMs } : null;
        this.#way.push({ name, folder, facts });
        return;
      }
      case "file":
        this.#budget.take(entry.sizeBytes);
        await replace(parent, name, (temporary) => this.#writeFile(temporary, entry));
        this.#files.add(digestOf(path));
        return;
      case "link":
        if (!(this.#options.allowsLink ?? staysInside)(entry.target, names.slice(depth))) {
          return this.#budget.skip(path, "links that lead out of what is copied");
        }
        this.#budget.take(0);
        return replace(parent, name, (temporary) => symlink(entry.target, temporary));
      case "hard-link":
        return this.#link(entry.target, { parent, name, names, depth });
      case "other":
        return this.#budget.skip(path, "neither a file, a folder nor a link");
    }
  }

  async #writeFile(place: string, { mode, modifiedAtMs, chunks }: TreeFile): Promise<void> {
    const { owner, exactModes = false } = this.#options;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    await using handle = await open(place, flags, mode & 0o777);
    for await (const chunk of chunks) {
      this.#budget.arrive(chunk.length);
      await handle.writeFile(chunk);
    }
    if (owner !== undefined && (await handle.stat()).uid !== owner.uid) await handle.chown(owner.uid, owner.gid);
    if (exactModes) await handle.chmod(mode & 0o777);
    await handle.utimes(modifiedAtMs / 1000, modifiedAtMs / 1000);
  }

  /** A second name of a file that this copy has written. */
  async #link(
    target: string,
    at: {
      readonly parent: HostFolder;
      readonly name: string;
      readonly names: readonly string[];
      readonly depth: number;
    },
  ): Promise<void> {
    const of = [...at.names.slice(0, at.depth), ...safeNames(target, this.#options.platform)];
    const path = at.names.join("/");
    if (!this.#files.has(digestOf(of.join("/")))) return this.#budget.skip(path, "second names of what is not copied");
    this.#budget.take(0);
    await using folder = await descend(this.#root, of.slice(0, -1));
    await replace(at.parent, at.name, (temporary) => link(folder.at(of.at(-1) ?? ""), temporary));
    this.#files.add(digestOf(path));
  }

  /** The folder of these names; those that the last entry was in stay open. */
  async #enter(names: readonly string[]): Promise<HostFolder> {
    const shared = this.#way.findIndex(({ name }, index) => name !== names[index]);
    await this.#leave(shared < 0 ? Math.min(this.#way.length, names.length) : shared);
    for (const name of names.slice(this.#way.length)) {
      const folder = await this.#current.enter(name);
      this.#way.push({ name, folder, facts: null });
    }
    return this.#current;
  }

  get #current(): HostFolder {
    return this.#way.at(-1)?.folder ?? this.#root;
  }

  async #leave(depth: number): Promise<void> {
    for (const { folder, facts } of this.#way.splice(depth).toReversed()) {
      if (facts !== null) await folder.describe(facts.mode, facts.modifiedAtMs, this.#options.exactModes);
      await folder[Symbol.asyncDispose]();
    }
  }
}

async function descend(root: HostFolder, names: readonly string[]): Promise<HostFolder> {
  let folder = await root.enter(".");
  for (const name of names) {
    const next = await folder.enter(name);
    await folder[Symbol.asyncDispose]();
    folder = next;
  }
  return folder;
}

/** Makes something under a name of its own, which then takes the place of what is there: a link itself, not its target. */
async function replace(parent: HostFolder, name: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = parent.at(`.${createId("glovebox")}`);
  try {
    await make(temporary);
    await rename(temporary, parent.at(name));
  } finally {
    // There still after a failure, and when it was a second name of what had the place.
    await rm(temporary, { force: true });
  }
}

function digestOf(path: string): string {
  return createHash("sha256").update(path).digest("base64");
}
