import { watch, type FSWatcher, type BigIntStats } from "node:fs";
import type { HostFolder } from "../../base/host-folder.ts";
import { formatBytes } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { FolderTaking, TreeFilter } from "../../sandbox/copy/read-host-tree.ts";

/** Watches one folder, without those in it. */
export interface FolderWatch {
  close(): void;
}

/** Told the name of what has changed in a folder; null: anything, the folder itself as well. */
type OnChange = (name: string | null) => void;

/**
 * Watches a folder that is open, wherever its name leads to meanwhile; null where the system watches no more. What it tells
 * is a hint: systems leave out changes when there are too many.
 */
export function watchFolder(folder: HostFolder, onChange: OnChange): FolderWatch | null {
  let watcher: FSWatcher;
  try {
    // The last name is what the system calls the folder itself.
    watcher = watch(`${folder.self.replace(/\/$/, "")}/.`, { persistent: false });
  } catch {
    return null;
  }
  watcher.on("change", (_, name) => onChange(name === null || name === "." || name === "" ? null : String(name)));
  watcher.on("error", () => onChange(null));
  return watcher;
}

/** A file or link as it was last seen; `stamp` differs whenever it may have changed. */
interface KnownFile {
  readonly kind: "file" | "link";
  readonly stamp: string;
  readonly sizeBytes: number;
}

/** What is never copied: a FIFO, a socket, a device, or what has no name that can be told. */
interface KnownOther {
  readonly kind: "other";
}

/** A folder as it was last seen. */
export interface KnownFolder {
  readonly kind: "folder";
  /** Its path in the project with a slash, empty for the project's own folder. */
  readonly prefix: string;
  readonly children: Map<string, Known>;
  /** Whose folder it is, so that another one of the same name is told apart. */
  identity: string;
  /** Undefined: everything is copied. */
  filter: TreeFilter | undefined;
  rules: FolderTaking | null;
  /** Null: not watched, or not any more. */
  watch: FolderWatch | null;
  isGone: boolean;
}

export type Known = KnownFile | KnownOther | KnownFolder;

export function newFolder(prefix: string, identity: string, filter: TreeFilter | undefined): KnownFolder {
  return { kind: "folder", prefix, children: new Map(), identity, filter, rules: null, watch: null, isGone: false };
}

export function stampOf({ dev, ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, mtimeNs, ctimeNs].join(":");
}

/** A file system may give a new folder the number of one that has just gone. */
export function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return [dev, ino, birthtimeNs].join(":");
}

/** Names from the project's folder down. */
export function namesOf(prefix: string): readonly string[] {
  return prefix === "" ? [] : prefix.slice(0, -1).split("/");
}

/** What a project comes to at present. */
export class TreeSize {
  readonly #maxBytes: number;
  readonly #maxEntries: number;
  #bytes = 0;
  #entries = 0;

  constructor({ maxBytes, maxEntries }: { readonly maxBytes: number; readonly maxEntries: number }) {
    this.#maxBytes = maxBytes;
    this.#maxEntries = maxEntries;
  }

  /** Counts what comes and what goes. @throws POLICY_DENIED */
  add(entries: number, bytes: number): void {
    this.#entries += entries;
    this.#bytes += bytes;
    if (this.#entries > this.#maxEntries) throw tooLarge(`${this.#maxEntries} files, folders and links`);
    if (this.#bytes > this.#maxBytes) throw tooLarge(formatBytes(this.#maxBytes));
  }
}

function tooLarge(most: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The project has more than ${most}, so it is not copied any further.`, {
    suggestion: "Name what the sandbox does not need in .gitignore, or raise limits.disk_mb.",
    context: { field: "limits.disk_mb" },
  });
}
