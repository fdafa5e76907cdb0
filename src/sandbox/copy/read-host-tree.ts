import { constants, type Stats } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { NewTreeEntry, TreeFile } from "../files/file-way.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { linkTargetOnHost, modeOnHost, hostError, onHost } from "./on-host.ts";
import type { HostFolder } from "../../base/host-folder.ts";

/** Decides what of a tree is read. */
export interface TreeFilter {
  /** Called for each folder, while it is open; `prefix` is its path with a slash, empty for the root. */
  enter(folder: HostFolder, prefix: string): Promise<FolderTaking>;
}

/** Decides what of one folder is read; `path` is relative to the root. */
export interface FolderTaking {
  /** Whether to read an entry of the folder, and for a folder what its own filter takes. */
  readonly takes: (path: string, name: string, isFolder: boolean) => boolean;
  /** The filter for a subfolder that is read. */
  readonly below: (path: string, name: string) => TreeFilter;
}

/** Folders in folders: each is held open while it is read, and a path in a sandbox has at most 4,095 bytes. */
const maxDepth = 511;

/**
 * Everything below a folder of this machine, or what the filter accepts. Links are kept as links; anything but files,
 * folders and links is skipped.
 * @throws POLICY_DENIED for folders more than 512 deep and for more than the budget, and what `onHost` throws
 */
export async function* readHostTree(
  folder: HostFolder,
  budget: CopyBudget,
  { filter }: { readonly filter?: TreeFilter | undefined } = {},
): AsyncGenerator<NewTreeEntry, void, undefined> {
  const onTrouble = (path: string, error: unknown): never => {
    throw hostError(path || ".", error);
  };
  /** The folders down to the current entry, each with what is read of it. */
  const way: { readonly folder: HostFolder; readonly rules: FolderTaking | undefined }[] = [];
  let ahead = filter;
  for await (const entry of folder.walk({ maxDepth, isSorted: true, onTooDeep, onTrouble })) {
    const { path, name, stat, level } = entry;
    if (!entry.isUtf8) throw unnamed(path);
    if (way[level - 1]?.folder !== entry.folder) {
      const prefix = path.slice(0, path.length - name.length);
      way.splice(level - 1, way.length, { folder: entry.folder, rules: await ahead?.enter(entry.folder, prefix) });
    }
    way.length = level;
    const rules = way[level - 1]?.rules;
    if (rules?.takes(path, name, stat.isDirectory()) === false) {
      entry.passBy();
      continue;
    }
    const facts = { path, mode: modeOnHost(stat, folder.platform), modifiedAtMs: Math.floor(stat.mtimeMs) };
    if (stat.isDirectory()) {
      budget.take(0);
      ahead = rules?.below(path, name);
      yield { ...facts, kind: "folder" };
    } else if (stat.isSymbolicLink()) {
      budget.take(0);
      const target = linkTargetOnHost(await readlink(entry.folder.at(name)), folder.platform);
      yield { ...facts, kind: "link", target };
    } else if (stat.isFile()) yield* readHostFile(entry, path, budget);
    else budget.skip(path, "neither a file, a folder nor a link");
  }
}

/** A file of this machine, open while the consumer reads it; none if it is no longer a file. */
export async function* readHostFile(
  { folder, name }: { readonly folder: HostFolder; readonly name: string },
  path: string,
  budget: CopyBudget,
): AsyncGenerator<TreeFile, void, undefined> {
  // Opening must not block if a FIFO has taken the file's place.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using handle = await onHost(path, open(folder.at(name), flags));
  const stat: Stats = await handle.stat();
  if (!stat.isFile()) return budget.skip(path, "neither a file, a folder nor a link");
  budget.take(stat.size);
  budget.arrive(stat.size);
  yield {
    kind: "file",
    path,
    mode: modeOnHost(stat, folder.platform),
    modifiedAtMs: Math.floor(stat.mtimeMs),
    sizeBytes: stat.size,
    chunks: handle.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>,
  };
}

function onTooDeep(tooDeep: string): never {
  const path = tooDeep.slice(0, 200);
  const limit = maxDepth + 1;
  throw new GloveboxError("POLICY_DENIED", `${JSON.stringify(`${path}...`)} has folders more than ${limit} deep.`, {
    suggestion: "Remove them, or have .gitignore name them.",
    context: { limit },
  });
}

function unnamed(path: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} has a name that is not UTF-8.`, {
    suggestion: "Rename it, or copy its neighbours one by one.",
    context: { path },
  });
}
