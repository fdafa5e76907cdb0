import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { takeFileLock } from "../base/file-lock.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { parseKeysFile, type KeyRecord } from "./key-record.ts";
import type { KeysPlace } from "./keys-place.ts";
import { readKeysFile } from "./read-keys-file.ts";

/** How to change the keys. */
export type ChangeKeys = (keys: readonly KeyRecord[]) => readonly KeyRecord[];

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
