import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import type { HostFolder } from "../../copy/host-folder.ts";
import type { FileFacts, FileKind } from "../file-facts.ts";
import type { MoveBounds } from "../move-bounds.ts";

/** A folder whose entries are collected, down to a given depth. */
export interface Collecting {
  readonly found: FileFacts[];
  /** Paths of folders that could not be opened are put here. */
  readonly closed?: string[];
  readonly maxEntries: number;
  readonly bounds: MoveBounds;
  readonly depth: number;
  readonly prefix: string;
  readonly level: number;
}

/** Whether there was no more than requested. */
export async function collect(folder: HostFolder, options: Collecting): Promise<boolean> {
  const { found, maxEntries, bounds, depth, prefix, level } = options;
  // One name at a time: a folder of millions must not be in memory as a whole.
  for await (const entry of await opendir(folder.self)) {
    const { name } = entry;
    bounds.enter(level);
    if (found.length >= maxEntries) return false;
    const facts = await factsOf(folder, entry, `${prefix}${name}`);
    // Gone since it was named.
    if (facts === null) continue;
    found.push(facts);
    if (facts.kind !== "folder" || level >= depth) continue;
    const child = await folder.enter(name).catch(() => null);
    if (child === null) options.closed?.push(facts.path);
    if (child === null) continue;
    await using below = child;
    if (!(await collect(below, { ...options, prefix: `${prefix}${name}/`, level: level + 1 }))) return false;
  }
  return true;
}

async function factsOf(folder: HostFolder, entry: Dirent, path: string): Promise<FileFacts | null> {
  const facts = await lstat(folder.at(entry.name)).catch(() => null);
  // A name that is not UTF-8 cannot be looked up.
  if (facts === null && !entry.name.includes("\ufffd")) return null;
  const kind = kindOf(facts ?? entry);
  return {
    path,
    isAddressable: facts !== null,
    kind,
    sizeBytes: kind === "file" ? (facts?.size ?? 0) : 0,
    mode: (facts?.mode ?? 0) & 0o7777,
    modifiedAtMs: Math.floor((facts?.mtimeMs ?? 0) / 1000) * 1000,
  };
}

function kindOf(facts: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "folder";
  return facts.isSymbolicLink() ? "link" : "other";
}
