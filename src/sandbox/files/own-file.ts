import { constants, type Stats } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { fileError } from "./file-error.ts";
import type { MoveBounds } from "./move-bounds.ts";
import { onPlace, type OpenHostPlace } from "./host-place.ts";
import type { HostFolder } from "../../base/host-folder.ts";

/** Opens the path itself without following links, and never blocks, neither on a FIFO's other end nor on a device. */
export const openingFlags: number = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface OwnFile {
  readonly handle: FileHandle;
  readonly facts: Stats;
}

/**
 * Opens the file that a path was opened for; it is one of the sandbox's own, whatever it is replaced with meanwhile.
 */
export async function openFile(place: OpenHostPlace, path: string): Promise<OwnFile> {
  const name = place.names.at(-1);
  if (name === undefined) throw fileError(path, "Is a directory");
  await using folder = await place.enter(place.names.slice(0, -1));
  const before = await onPlace(path, lstat(folder.at(name)));
  if (before.isDirectory()) throw fileError(path, "Is a directory");
  if (before.isSymbolicLink()) throw fileError(path, "Link not followed");
  if (!before.isFile()) throw fileError(path, "Not a regular file");
  return await openIn(folder, name, { place, path });
}

/** Opens a name of a folder and checks it once it is open: a moment ago it may have been something else. */
export async function openIn(
  folder: HostFolder,
  name: string,
  { place, path }: { readonly place: OpenHostPlace; readonly path: string },
): Promise<OwnFile> {
  const handle = await onPlace(path, open(folder.at(name), constants.O_RDONLY | openingFlags));
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw fileError(path, "Not a regular file");
    if (!place.isOwn(facts)) throw fileError(path, "Not its own");
    return { handle, facts };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A part of a file; closes the file at the end. */
export async function* piecesOf(
  handle: FileHandle,
  {
    offsetBytes,
    length,
    bounds,
  }: { readonly offsetBytes: number; readonly length: number; readonly bounds: MoveBounds },
): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = handle;
  if (length === 0) return;
  const end = offsetBytes + length - 1;
  const stream = file.createReadStream({ start: offsetBytes, end, autoClose: false }) as AsyncIterable<Uint8Array>;
  for await (const piece of stream) {
    bounds.pass(piece.length);
    yield piece;
  }
}
