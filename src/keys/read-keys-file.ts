import { constants, type Stats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { mebibyte } from "../base/bytes.ts";
import { errorCode } from "../errors/error-code.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { KeysPlace } from "./keys-place.ts";

const maxBytes = 4 * mebibyte;
const { O_RDONLY } = constants;
/** Windows has neither. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

/**
 * The text of the keys file; null when the user's own does not exist. A deployment's may be a link, since orchestrators
 * mount their secrets so, and may be read by others: it holds hashes. Anyone who can write it can create keys, so
 * others must not.
 * @throws PERMISSION_DENIED saying what is wrong with the file; for the operator only, since it names the path
 */
export async function readKeysFile({ path: file, isOwn, uid }: KeysPlace): Promise<string | null> {
  let handle: FileHandle;
  try {
    handle = await open(file, O_RDONLY | O_NONBLOCK | (isOwn ? O_NOFOLLOW : 0));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" && isOwn) return null;
    if (code === "ENOENT") throw unusable(file, "it does not exist", "Correct keys_file (GLOVEBOX_KEYS_FILE).", error);
    if (code === "ELOOP") throw unusable(file, "it is a symbolic link", "Put the file itself there.", error);
    throw unusable(file, `it cannot be read (${code})`, "Correct its permissions.", error);
  }
  await using opened = handle;
  const found = await opened.stat();
  if (!found.isFile()) throw unusable(file, "it is not a regular file", "Make it a file.");
  if (found.size > maxBytes) throw unusable(file, "it has more than 4 MB", "Take keys out of it.");
  if (uid !== null) refuseForeign(file, found, { isOwn, uid });
  return await opened.readFile("utf8");
}

function refuseForeign(file: string, found: Stats, { isOwn, uid }: { isOwn: boolean; uid: number }): void {
  const isTrusted = found.uid === uid || (!isOwn && found.uid === 0);
  if (!isTrusted) throw unusable(file, "it belongs to another user", "Change its owner to this user (chown).");
  const open = found.mode & (isOwn ? 0o077 : 0o022);
  if (open === 0) return;
  const what = isOwn ? "other users may read or write it" : "other users may write it";
  throw unusable(file, what, `Remove their access: chmod ${isOwn ? "600" : "go-w"}.`);
}

function unusable(file: string, reason: string, suggestion: string, cause?: unknown): GloveboxError {
  return new GloveboxError("PERMISSION_DENIED", `The keys file ${file} cannot be used: ${reason}.`, {
    suggestion,
    cause,
  });
}
