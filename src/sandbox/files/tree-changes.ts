import type { NewTreeEntry } from "./file-facts.ts";

/** The changes to a tree. Paths are relative to its folder. */
export interface TreeChanges {
  /** Files, links and folders that are new or changed; the folders above them need no entry. */
  readonly entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>;
  /** Files and links that are gone. */
  readonly gone: readonly string[];
  /** Folders that are gone, innermost first. What the sandbox's programs created in them stays. */
  readonly goneFolders: readonly string[];
}
