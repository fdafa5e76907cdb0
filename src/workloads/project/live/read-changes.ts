import { constants } from "node:fs";
import { lstat, open, readlink, type FileHandle } from "node:fs/promises";
import { errorCode } from "../../../errors/error-code.ts";
import { FolderWay } from "../../../sandbox/copy/folder-way.ts";
import { linkTargetOnHost, modeOnHost } from "../../../sandbox/copy/host-facts.ts";
import type { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import type { NewTreeEntry } from "../../../sandbox/files/file-facts.ts";
import type { LeftOut } from "./left-out.ts";

/**
 * What stands at these paths of a project now, each of which is a file, a link or a folder. What is gone meanwhile is left
 * out; what is not readable is noted.
 */
export async function* readChanges(
  root: HostFolder,
  paths: readonly string[],
  leftOut: LeftOut,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  await using way = new FolderWay(root);
  for (const path of paths) {
    const names = path.split("/");
    try {
      const folder = await way.enter(names.slice(0, -1));
      yield* readOne(folder, names.at(-1) ?? "", path);
    } catch (error) {
      const code = errorCode(error);
      if (code === "EACCES" || code === "EPERM") leftOut.add(path, "not readable");
      else if (!["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EINVAL"].includes(code)) throw error;
    }
  }
}

async function* readOne(folder: HostFolder, name: string, path: string): AsyncGenerator<NewTreeEntry, void, undefined> {
  const place = folder.at(name);
  const stat = await lstat(place);
  const facts = { path, mode: modeOnHost(stat, folder.platform), modifiedAtMs: Math.floor(stat.mtimeMs) };
  // Its owner inside must be able to fill it later.
  if (stat.isDirectory()) yield { ...facts, kind: "folder", mode: facts.mode | 0o700 };
  else if (stat.isSymbolicLink())
    yield { ...facts, kind: "link", target: linkTargetOnHost(await readlink(place), folder.platform) };
  else if (stat.isFile()) yield* readFile(place, path, folder.platform);
}

async function* readFile(
  place: string,
  path: string,
  platform: NodeJS.Platform,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  // A FIFO must not make the opening wait, should it have taken the file's place.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using handle = await open(place, flags);
  const stat = await handle.stat();
  if (!stat.isFile()) return;
  const mode = modeOnHost(stat, platform);
  const facts = { path, mode, modifiedAtMs: Math.floor(stat.mtimeMs), sizeBytes: stat.size };
  yield { kind: "file", ...facts, chunks: exactly(handle, stat.size) };
}

/** So many bytes: what a file has gained meanwhile is cut off, what it has lost is zeros; the next change brings the rest. */
async function* exactly(handle: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let left = sizeBytes;
  while (left > 0) {
    const buffer = Buffer.alloc(Math.min(left, 256 * 1024));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    left -= bytesRead === 0 ? buffer.length : bytesRead;
    yield bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
  }
}
