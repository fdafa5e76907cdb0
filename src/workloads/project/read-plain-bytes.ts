import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "../../errors/glovebox-error.ts";
import type { HostFolder } from "../../base/host-folder.ts";
import { readBounded } from "../../sandbox/mounts/read-bounded.ts";

/** Errors of a name that is no plain file: a folder, a link, a socket or the like. */
const others: ReadonlySet<string> = new Set(["ELOOP", "ENXIO", "EISDIR", "ENOTDIR"]);

/** The bytes of a plain file in a folder; or `none` of that name, `other`: no plain file, `large`, `closed` to us. */
export async function readPlainBytes(
  folder: HostFolder,
  name: string,
  maxBytes: number,
): Promise<Uint8Array | "none" | "other" | "large" | "closed"> {
  try {
    // Neither a FIFO nor a lease makes the opening wait.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using file = await open(folder.at(name), flags);
    if (!(await file.stat()).isFile()) return "other";
    return (await readBounded(file, maxBytes)) ?? "large";
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return "none";
    if (others.has(code)) return "other";
    if (["EACCES", "EPERM", "EAGAIN"].includes(code)) return "closed";
    throw error;
  }
}
