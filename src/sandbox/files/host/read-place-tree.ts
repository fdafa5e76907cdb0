import type { Stats } from "node:fs";
import { lstat, opendir, readlink } from "node:fs/promises";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { HostFolder } from "../../copy/host-folder.ts";
import { namesNotUtf8 } from "../file-error.ts";
import type { TreeEntry } from "../file-facts.ts";
import type { MoveBounds } from "../move-bounds.ts";
import { onPlace, type OpenHostPlace } from "./host-place.ts";
import { openIn, piecesOf } from "./own-file.ts";

export interface PlaceTree {
  readonly place: OpenHostPlace;
  readonly bounds: MoveBounds;
  /** The requested path, as the caller named it. */
  readonly path: string;
  /** What could not be read, reported after everything else. */
  readonly failures: unknown[];
}

/** What is below an open folder. Entries that disappear meanwhile are skipped; no link is followed. */
export async function* readPlaceTree(
  folder: HostFolder,
  tree: PlaceTree,
  prefix = "",
  level = 1,
): AsyncGenerator<TreeEntry, void, undefined> {
  // One name at a time: a folder of millions must not be in memory as a whole.
  for await (const { name } of await onPlace(tree.path, opendir(folder.self))) {
    tree.bounds.enter(level);
    const facts = await lstat(folder.at(name)).catch(() => null);
    if (facts === null && name.includes("\ufffd")) throw namesNotUtf8(tree.path);
    if (facts === null) continue;
    yield* readPlaceEntry(folder, name, { tree, facts, path: `${prefix}${name}` });
    if (!facts.isDirectory()) continue;
    const child = await unlessUnreadable(tree, folder.enter(name));
    if (child === null) continue;
    await using below = child;
    yield* readPlaceTree(below, tree, `${prefix}${name}/`, level + 1);
  }
}

/** One name of a folder, without what is below it. Of a file the content must be read before the next entry. */
export async function* readPlaceEntry(
  folder: HostFolder,
  name: string,
  { tree, facts, path }: { readonly tree: PlaceTree; readonly facts: Stats; readonly path: string },
): AsyncGenerator<TreeEntry, void, undefined> {
  const common = partOf(path, facts);
  if (facts.isDirectory()) yield { ...common, kind: "folder" };
  else if (facts.isSymbolicLink()) {
    const target = await readlink(folder.at(name)).catch(() => null);
    if (target?.includes("\ufffd") === true) throw namesNotUtf8(tree.path);
    if (target !== null) yield { ...common, kind: "link", target };
  } else if (facts.isFile()) yield* readPlaceFile(folder, name, { tree, path });
  else yield { ...common, kind: "other" };
}

async function* readPlaceFile(
  folder: HostFolder,
  name: string,
  { tree, path }: { readonly tree: PlaceTree; readonly path: string },
): AsyncGenerator<TreeEntry, void, undefined> {
  const { place, bounds } = tree;
  const file = await unlessUnreadable(tree, openIn(folder, name, { place, path: tree.path }));
  if (file === null) return;
  await using handle = file.handle;
  const sizeBytes = file.facts.size;
  const chunks = piecesOf(handle, { offsetBytes: 0, length: sizeBytes, bounds });
  yield { ...partOf(path, file.facts), kind: "file", sizeBytes, chunks };
}

function partOf(path: string, { mode, mtimeMs }: Stats): Pick<TreeEntry, "path" | "mode" | "modifiedAtMs"> {
  return { path, mode: mode & 0o777, modifiedAtMs: Math.floor(mtimeMs / 1000) * 1000 };
}

/**
 * Null for entries that are gone or have become something else, and for unreadable ones, which are reported at the end.
 */
async function unlessUnreadable<T>({ failures, path }: PlaceTree, work: Promise<T>): Promise<T | null> {
  try {
    return await onPlace(path, work);
  } catch (error) {
    if (!(error instanceof GloveboxError)) throw error;
    if (error.errorType === "PERMISSION_DENIED") {
      if (failures.length === 0) failures.push(error);
    } else if (error.errorType !== "NOT_FOUND" && error.errorType !== "INVALID_REQUEST") throw error;
    return null;
  }
}
