import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { findOnHost } from "../sandbox/copy/find-on-host.ts";
import { readBounded } from "../sandbox/mounts/read-bounded.ts";

/**
 * All bytes of what a person named, a file, pipe or link, null if there are more than `maxBytes`. It is opened once: what is
 * read is what was measured. @throws Node's error
 */
export async function readNamed(place: string, maxBytes: number): Promise<Uint8Array | null> {
  await using file = await open(place);
  return await readBounded(file, maxBytes);
}

/** What a file holds, or why there is nothing. */
export type ReadFile = { readonly bytes: Uint8Array } | { readonly reason: "too large" | "no file" };

/**
 * All bytes of a file at an absolute path on which no link is followed (see `findOnHost`): a program that had the folder could
 * have left one, to get what it leads to. @throws INVALID_REQUEST naming a link, NOT_FOUND, or Node's error
 */
export async function readWithoutLinks(
  place: string,
  { maxBytes, platform }: { readonly maxBytes: number; readonly platform: NodeJS.Platform },
): Promise<ReadFile> {
  await using found = await findOnHost(place, platform);
  if (!found.stat.isFile()) return { reason: "no file" };
  // Without waiting for whoever may have put a FIFO there meanwhile.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using file = await open(found.parent.at(found.name), flags);
  if (!(await file.stat()).isFile()) return { reason: "no file" };
  const bytes = await readBounded(file, maxBytes);
  return bytes === null ? { reason: "too large" } : { bytes };
}
