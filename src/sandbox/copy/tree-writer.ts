import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, rm, symlink } from "node:fs/promises";
import { createId } from "../../base/id.ts";
import type { TreeEntry, TreeFile } from "../files/file-way.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { onHost } from "./on-host.ts";
import type { HostFolder } from "../../base/host-folder.ts";
import { safeNames, staysInside } from "./safe-path.ts";

/** A folder on the path to the current entry; `facts`: the copy created it, so they are set when it is left. */
interface OpenFolder {
  readonly name: string;
  readonly folder: HostFolder;
  readonly facts: { readonly mode: number; readonly modifiedAtMs: number } | null;
}

/** Counts a tree's entries before they are written, and notes what is skipped. `CopyBudget` is one. */
export type TreeTally = Pick<CopyBudget, "take" | "arrive" | "skip">;

export interface TreeWriterOptions {
  readonly budget: TreeTally;
  readonly platform: NodeJS.Platform;
  /** Owner of everything written; links are skipped then. Default: this process's user. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Whether permissions are set exactly; default: the user's umask applies. */
  readonly exactModes?: boolean | undefined;
  /** Default: those that stay inside the tree. */
  readonly allowsLink?: ((target: string, names: readonly string[]) => boolean) | undefined;
  /** Translates errors of work on the files; default: as for this machine's files. */
  readonly onFailure?: (<T>(path: string, work: Promise<T>) => Promise<T>) | undefined;
}

/**
 * Writes a tree from a sandbox below a folder of this machine and nowhere else: names only lead down, and no link is
 * followed, neither one of the tree nor an existing one. Files are put in place atomically; an existing link or file is
 * replaced, an existing folder is kept and merged. Of the mode bits, only permissions that the user's umask allows are
 * applied.
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
    // The named folder itself.
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

  /** A hard link to a file that this copy has written. */
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
    await using folder = await this.#root.descend(of.slice(0, -1));
    await replace(at.parent, at.name, (temporary) => link(folder.at(of.at(-1) ?? ""), temporary));
    this.#files.add(digestOf(path));
  }

  /** The folder at this path; the last entry's folders stay open. */
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

/** Creates something under a temporary name, then renames it over what is there: over a link itself, not its target. */
async function replace(parent: HostFolder, name: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = parent.at(`.${createId("glovebox")}`);
  try {
    await make(temporary);
    await rename(temporary, parent.at(name));
  } finally {
    // Still there after a failure, and if it was a hard link to the file it replaces.
    await rm(temporary, { force: true });
  }
}

function digestOf(path: string): string {
  return createHash("sha256").update(path).digest("base64");
}
