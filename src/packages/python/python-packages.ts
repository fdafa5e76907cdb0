import type { SourceFile } from "../imports/scan-request.ts";
import { findModules } from "./find-modules.ts";
import { pythonPackage } from "./python-package.ts";
import { posix } from "node:path";

/**
 * The distributions that Python files import, in no order; true: the main file cannot run without. `paths` are those of all
 * the program's files.
 */
export function pythonPackages(
  files: readonly SourceFile[],
  paths: readonly string[],
  main: string,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  const isLocal = localModules(paths);
  for (const { path, content } of files) {
    for (const [module, isCertain] of findModules(content)) {
      const name = isLocal(path, module.split(".", 1)[0] ?? "") ? null : pythonPackage(module);
      if (name !== null) found.set(name, (isCertain && path === main) || found.get(name) === true);
    }
  }
  return found;
}

/** Folders from the file's own up to the root, which is the empty name. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join("/")), ""];
}

/**
 * Tells whether a top-level module that a file imports is one of the program's own: a Python file or a folder with
 * Python files, beside the importing file or in a folder above it.
 */
function localModules(paths: readonly string[]): (importingPath: string, module: string) => boolean {
  const own = new Set<string>();
  for (const path of paths) {
    if (!/\.pyw?$/.test(path)) continue;
    const normal = posix.normalize(path);
    own.add(normal.replace(/\.pyw?$/, ""));
    for (const folder of foldersAbove(normal)) own.add(folder);
  }
  return (importingPath, module) =>
    foldersAbove(posix.normalize(importingPath)).some((folder) => own.has(posix.join(folder, module)));
}
