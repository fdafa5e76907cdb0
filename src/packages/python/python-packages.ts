import type { SourceFile } from "../imports/scan-request.ts";
import { findModules } from "./find-modules.ts";
import { localModules } from "./local-modules.ts";
import { pythonPackage } from "./python-package.ts";

/** The distributions that Python files import, in no order; `paths` are those of all the program's files. */
export function pythonPackages(files: readonly SourceFile[], paths: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const isLocal = localModules(paths);
  for (const { path, content } of files) {
    for (const module of findModules(content)) {
      const name = isLocal(path, module.split(".", 1)[0] ?? "") ? null : pythonPackage(module);
      if (name !== null) found.add(name);
    }
  }
  return found;
}
