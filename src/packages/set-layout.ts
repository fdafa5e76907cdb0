import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { readPackagedScript } from "../base/packaged-script.ts";

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
