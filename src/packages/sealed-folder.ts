import { chmod, readdir, rm } from "node:fs/promises";
import path from "node:path";

/** Makes a folder and all below it read-only for everyone; its files are so already. */
export async function seal(folder: string): Promise<void> {
  await changeFolders(folder, 0o555);
}

/** Removes a sealed folder; resolves when it is gone already. */
export async function removeSealed(folder: string): Promise<void> {
  try {
    await changeFolders(folder, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await rm(folder, { recursive: true, force: true });
}

/** From the outside in when they become writable, and from the inside out when they stop. */
async function changeFolders(folder: string, mode: 0o555 | 0o755): Promise<void> {
  if (mode === 0o755) await chmod(folder, mode);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await changeFolders(path.join(folder, entry.name), mode);
  }
  if (mode === 0o555) await chmod(folder, mode);
}
