import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { HostFolder } from "../../base/host-folder.ts";
import { readBounded } from "../../sandbox/mounts/read-bounded.ts";

/**
 * Text of a file in a folder; `other`: a FIFO or anything else that is not a file; `large`: it exceeds the limit. No
 * link is followed. @throws Node's error
 */
export async function readPlainFile(
  folder: HostFolder,
  name: string,
  maxBytes: number,
): Promise<{ readonly text: string } | "other" | "large"> {
  // Opening must not block on a FIFO.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using file = await open(folder.at(name), flags);
  if (!(await file.stat()).isFile()) return "other";
  const bytes = await readBounded(file, maxBytes);
  return bytes === null ? "large" : { text: Buffer.from(bytes).toString("utf8") };
}
