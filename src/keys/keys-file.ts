import path from "node:path";
import type { Config } from "../config/config.ts";
import { configDirectory, expandHome } from "../config/host/host-paths.ts";
import type { Host } from "../config/host/host.ts";
import { constants, type Stats } from "node:fs";
import { open, mkdir, rename, rm, type FileHandle } from "node:fs/promises";
import { mebibyte } from "../base/bytes.ts";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import { takeFileLock } from "../base/file-lock.ts";
import { parseKeysFile, type KeyRecord } from "./key-record.ts";

/** Where this server's keys are stored. */
export interface KeysPlace {
  readonly path: string;
  /** Whether it is the user's own file, which `glovebox keys` writes; a deployment's is never written. */
  readonly isOwn: boolean;
  readonly uid: number | null;
}

/** The file that the configuration names (`keys_file`), else the user's own in the configuration folder. */
export function keysPlace(
  { keysFile }: Pick<Config, "keysFile">,
  { environment, homeDirectory, uid }: Pick<Host, "environment" | "homeDirectory" | "uid">,
): KeysPlace {
  return keysFile === null
    ? { path: path.join(configDirectory(environment, homeDirectory), "keys.json"), isOwn: true, uid }
    : { path: expandHome(keysFile, homeDirectory), isOwn: false, uid };
}

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

/** How to change the keys. */
type ChangeKeys = (keys: readonly KeyRecord[]) => readonly KeyRecord[];

/** Changes the user's own keys file, one process at a time and atomically. @throws UNSUPPORTED for a deployment's */
export async function changeKeys(place: KeysPlace, change: ChangeKeys, signal?: AbortSignal): Promise<void> {
  if (!place.isOwn) {
    throw new GloveboxError("UNSUPPORTED", "This deployment's keys are in a file that Glovebox only reads.", {
      suggestion:
        "Edit that file (keys_file): `glovebox keys add NAME --print` prints an entry; delete an entry to revoke its key.",
    });
  }
  const { path: file } = place;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  using _ = await takeFileLock({ file: `${file}.lock`, signal });
  const keys = change(await readKeys(place));
  await replaceFile(file, `${JSON.stringify({ keys }, null, 2)}\n`);
}

/** The keys in the file, none if it does not exist. @throws if the file is invalid */
export async function readKeys(place: KeysPlace): Promise<readonly KeyRecord[]> {
  const text = await readKeysFile(place);
  return text === null ? [] : parseKeysFile(text);
}

async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  // Left by a process that was killed at this point; the lock guarantees that no other is writing now.
  await rm(fresh, { force: true });
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  {
    await using handle = await open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0o600);
    // Regardless of the umask.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  }
  await rename(fresh, file);
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
