import { chmod, mkdir, writeFile, copyFile, link, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { readPackagedScript } from "../base/packaged-script.ts";
import { constants } from "node:fs";

/** Where a set of Python's packages stands in the sandbox that uses it. */
export const pythonSetFolder = "/site-packages";
/** The packages themselves, and what leads Python to them, which is all that PYTHONPATH has: apart, so that none is found first. */
const [libraryName, startName] = ["lib", "start"];
export const pythonLibraryFolder = `${pythonSetFolder}/${libraryName}`;
export const pythonStartFolder = `${pythonSetFolder}/${startName}`;

/**
 * Writes what leads Python to the packages into a set's folder and gives the folder for them, which it makes. Whatever our
 * own umask is: sandboxes read it as another user.
 */
export async function layOutPythonSet(folder: string): Promise<string> {
  const [library, start] = [path.join(folder, libraryName), path.join(folder, startName)];
  for (const each of [library, start]) {
    await mkdir(each);
    await chmod(each, 0o755);
  }
  const source = new URL("../../images/python-start/sitecustomize.py", import.meta.url);
  const file = path.join(start, "sitecustomize.py");
  await writeFile(file, await readPackagedScript(source));
  await chmod(file, 0o444);
  return library;
}

/**
 * Whether Python would run the file at every start, if it lay in one of its own folders: such files have no place in a
 * set. Only at the top; deeper ones are modules like all others.
 */
export function runsAtStart(file: string): boolean {
  const [name = ""] = file.split("/", 1);
  return /^(?:site|user)customize(?:\.|$)/i.test(name) || (name === file && /\.pth$/i.test(name));
}

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

const blockBytes = 4096;

/** What a file of that size costs on the disk, or a folder of size 0: whole blocks, and one for its own entry at least. */
export function diskBytesOf(sizeBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / blockBytes)) * blockBytes;
}

/** From the outside in when they become writable, and from the inside out when they stop. */
async function changeFolders(folder: string, mode: 0o555 | 0o755): Promise<void> {
  if (mode === 0o755) await chmod(folder, mode);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await changeFolders(path.join(folder, entry.name), mode);
  }
  if (mode === 0o555) await chmod(folder, mode);
}
