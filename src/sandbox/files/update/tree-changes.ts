import type { NewTreeEntry, TreeFile } from "../file-facts.ts";

/** The changes to a tree. Paths are relative to its folder. */
export interface TreeChanges {
  /** Files, links and folders that are new or changed; the folders above them need no entry. */
  readonly entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>;
  /** Files and links that are gone. */
  readonly gone: readonly string[];
  /** Folders that are gone, innermost first. What the sandbox's programs created in them stays. */
  readonly goneFolders: readonly string[];
}

/** The changes as one tree: lists of names for `updateScript`, and below `tree` what takes its place. */
export async function* updateTree({ entries, gone, goneFolders }: TreeChanges): AsyncGenerator<NewTreeEntry> {
  yield listFile("gone", gone);
  yield listFile("gone-folders", goneFolders);
  for await (const entry of entries) yield { ...entry, path: `tree/${entry.path}` };
}

function listFile(path: string, names: readonly string[]): TreeFile {
  const content = Buffer.from(names.map((name) => `${name}\0`).join(""));
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { kind: "file", path, mode: 0o600, modifiedAtMs: 0, sizeBytes: content.length, chunks: chunks() };
}
