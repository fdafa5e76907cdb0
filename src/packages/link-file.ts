import { constants } from "node:fs";
import { chmod, copyFile, link, mkdir } from "node:fs/promises";

/** Gives a file of the cache another name, or a copy where it can have none; false if a file of that name exists. */
export async function linkFile(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // The file system has no hard links, or no more of this file.
    if (code !== "EPERM" && code !== "EMLINK" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return true;
  }
}

/** Makes a folder that sandboxes can read as another user, whatever our umask is. */
export async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
}
