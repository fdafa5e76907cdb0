import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { errorCode } from "../../errors/glovebox-error.ts";
import { FolderWay } from "../../sandbox/copy/on-host.ts";
import type { HostFolder } from "../../base/host-folder.ts";
import type { TreeFilter } from "../../sandbox/copy/read-host-tree.ts";
import {
  watchFolder,
  identityOf,
  namesOf,
  newFolder,
  stampOf,
  type Known,
  type KnownFolder,
  type TreeSize,
} from "./known-tree.ts";
import type { LeftOut } from "./copy-project.ts";
import type { PendingChanges } from "./pending-changes.ts";

/** What of a folder is looked at. */
export interface Look {
  /** Undefined: everything in it. */
  readonly names?: ReadonlySet<string> | undefined;
  /** Whether the folders in it are looked at as well, though they are known. */
  readonly isDeep: boolean;
}

export interface ProjectLookOptions {
  readonly root: HostFolder;
  readonly filter: TreeFilter | undefined;
  readonly size: TreeSize;
  readonly changes: PendingChanges;
  readonly leftOut: LeftOut;
  /** Told of a folder in which something may have changed. */
  readonly onChange: (folder: KnownFolder, name: string | null) => void;
  readonly signal: AbortSignal;
}

/** Folders in folders, each of which is held open. */
const maxDepth = 128;
/** Entries that are looked at side by side. */
const atOnce = 64;

/**
 * Looks at a project and notes what has become of it since the last look. Each name is looked up in its folder, which is
 * held open, so that no exchange leads out of the project; no link is followed.
 */
export class ProjectLook {
  readonly #options: ProjectLookOptions;
  readonly #top: KnownFolder;
  #isWatched = true;

  constructor(options: ProjectLookOptions) {
    this.#options = options;
    this.#top = newFolder("", "", options.filter);
  }

  /** Whether the system watches every folder of the last deep look. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Looks at everything. @throws POLICY_DENIED for more than the limits, CANCELLED, Node's error for the project's folder */
  async lookAtAll(): Promise<void> {
    this.#isWatched = true;
    await this.#look(this.#options.root, this.#top, { isDeep: true });
  }

  /** Looks at folders, each with the names in it that are in question. @throws as `lookAtAll` */
  async lookAt(folders: ReadonlyMap<KnownFolder, ReadonlySet<string> | null>): Promise<void> {
    await using way = new FolderWay(this.#options.root);
    for (const [known, names] of folders) {
      if (known.isGone) continue;
      const folder = await way.enter(namesOf(known.prefix)).catch(unlessGone);
      // One that is gone, or no folder any more, is seen in the folder above.
      if (folder !== null) await this.#look(folder, known, { names: names ?? undefined, isDeep: false });
    }
  }

  close(): void {
    closeWatches(this.#top);
  }

  async #look(folder: HostFolder, known: KnownFolder, look: Look): Promise<void> {
    this.#options.signal.throwIfAborted();
    if (look.isDeep || look.names === undefined || known.watch === null) this.#watch(folder, known);
    const changesRules = look.isDeep || known.rules === null || look.names?.has(".gitignore") === true;
    if (changesRules) known.rules = (await known.filter?.enter(folder, known.prefix)) ?? null;
    const isDeep = look.isDeep || (changesRules && known.filter !== undefined);
    const names = isDeep || look.names === undefined ? await this.#namesIn(folder, known) : [...look.names];
    for (let at = 0; at < names.length; at += atOnce) {
      this.#options.signal.throwIfAborted();
      const stats = await Promise.all(
        names.slice(at, at + atOnce).map(async (name) => {
          const path = `${known.prefix}${name}`;
          return [name, await this.#readable(path, lstat(folder.at(name), { bigint: true }))] as const;
        }),
      );
      for (const [name, stat] of stats) {
        if (stat !== "unreadable") await this.#lookAtOne(folder, known, { name, stat, isDeep });
      }
    }
  }

  /** Those that are there, and those that were. */
  async #namesIn(folder: HostFolder, known: KnownFolder): Promise<readonly string[]> {
    const names = await this.#readable(known.prefix, readdir(folder.self));
    const there = names === null || names === "unreadable" ? [] : names;
    return [...new Set([...there, ...known.children.keys()])].toSorted();
  }

  /** Null for what is gone. What may not be read stays as it is in the copy. */
  async #readable<T>(path: string, reading: Promise<T>): Promise<T | "unreadable" | null> {
    try {
      return await reading;
    } catch (error) {
      if (!["EACCES", "EPERM"].includes(errorCode(error))) return unlessGone(error);
      this.#options.leftOut.add(path, "not readable");
      return "unreadable";
    }
  }

  async #lookAtOne(
    folder: HostFolder,
    parent: KnownFolder,
    { name, stat, isDeep }: { readonly name: string; readonly stat: BigIntStats | null; readonly isDeep: boolean },
  ): Promise<void> {
    const path = `${parent.prefix}${name}`;
    const known = parent.children.get(name);
    if (stat === null || parent.rules?.takes(path, name, stat.isDirectory()) === false) {
      if (known !== undefined) this.#forget(parent, name, known);
    } else if (stat.isDirectory()) await this.#lookAtFolder(folder, parent, { name, stat, isDeep });
    else this.#lookAtFile(parent, name, stat);
  }

  #lookAtFile(parent: KnownFolder, name: string, stat: BigIntStats): void {
    const { size, changes, leftOut } = this.#options;
    const path = `${parent.prefix}${name}`;
    const before = parent.children.get(name);
    const isPlain = stat.isFile() || stat.isSymbolicLink();
    if (!isPlain || name.includes("\ufffd")) {
      if (before?.kind === "other") return;
      if (before !== undefined) this.#forget(parent, name, before);
      size.add(1, 0);
      parent.children.set(name, { kind: "other" });
      return leftOut.add(path, isPlain ? "names that are not UTF-8" : "neither a file, a folder nor a link");
    }
    const stamp = stampOf(stat);
    const isSame = before !== undefined && before.kind !== "folder" && before.kind !== "other";
    if (isSame && before.stamp === stamp) return;
    if (before !== undefined) this.#forget(parent, name, before);
    const sizeBytes = Number(stat.size);
    size.add(1, sizeBytes);
    parent.children.set(name, { kind: stat.isFile() ? "file" : "link", stamp, sizeBytes });
    changes.set(path, "put");
  }

  async #lookAtFolder(
    folder: HostFolder,
    parent: KnownFolder,
    { name, stat, isDeep }: { readonly name: string; readonly stat: BigIntStats; readonly isDeep: boolean },
  ): Promise<void> {
    const { size, changes, leftOut } = this.#options;
    const path = `${parent.prefix}${name}`;
    const filter = parent.rules?.below(path, name);
    const before = parent.children.get(name);
    if (name.includes("\ufffd") || namesOf(parent.prefix).length >= maxDepth) {
      if (before?.kind === "other") return;
      if (before !== undefined) this.#forget(parent, name, before);
      size.add(1, 0);
      parent.children.set(name, { kind: "other" });
      return leftOut.add(path, name.includes("\ufffd") ? "names that are not UTF-8" : "too deep");
    }
    const identity = identityOf(stat);
    let known: KnownFolder;
    if (before?.kind === "folder") known = before;
    else {
      if (before !== undefined) this.#forget(parent, name, before);
      size.add(1, 0);
      known = newFolder(`${path}/`, "", filter);
      parent.children.set(name, known);
      changes.set(path, "folder");
    }
    const isOther = known.identity !== identity;
    if (!isOther && !isDeep) return;
    const child = await this.#readable(path, folder.enter(name));
    // What has become of it in between, the next look tells.
    if (child === null || child === "unreadable") return;
    await using opened = child;
    known.filter = filter;
    await this.#look(opened, known, { isDeep: true });
    known.identity = identity;
  }

  #forget(parent: KnownFolder, name: string, known: Known): void {
    const { size, changes } = this.#options;
    const path = `${parent.prefix}${name}`;
    parent.children.delete(name);
    if (known.kind === "folder") {
      for (const [each, child] of known.children) this.#forget(known, each, child);
      known.isGone = true;
      known.watch?.close();
    }
    size.add(-1, known.kind === "file" || known.kind === "link" ? -known.sizeBytes : 0);
    if (known.kind !== "other") changes.set(path, known.kind === "folder" ? "gone-folder" : "gone");
  }

  /** Anew, since a folder of the same name and number may have taken the place of the one that was watched. */
  #watch(folder: HostFolder, known: KnownFolder): void {
    const before = known.watch;
    known.watch = watchFolder(folder, (name) => this.#options.onChange(known, name));
    before?.close();
    if (known.watch === null) this.#isWatched = false;
  }
}

function closeWatches(folder: KnownFolder): void {
  folder.watch?.close();
  for (const child of folder.children.values()) if (child.kind === "folder") closeWatches(child);
}

/** Null for what is not there any more, or is no folder any more. */
function unlessGone(error: unknown): null {
  if (["ENOENT", "ENOTDIR", "ELOOP"].includes(errorCode(error))) return null;
  throw error;
}
