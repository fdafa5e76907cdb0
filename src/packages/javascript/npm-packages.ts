import type { SourceFile } from "../imports/scan-request.ts";
import { findSpecifiers } from "./find-specifiers.ts";
import { npmPackage } from "./npm-package.ts";

/** The packages that files of JavaScript and TypeScript import, in no order; true: the main file cannot run without. */
export function npmPackages(files: readonly SourceFile[], main: string): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { path, content } of files) {
    for (const [specifier, isCertain] of findSpecifiers(path, content)) {
      const spec = npmPackage(specifier);
      if (spec !== null) found.set(spec, (isCertain && path === main) || found.get(spec) === true);
    }
  }
  // One with its version stands for the same package without.
  for (const [spec, isCertain] of found) {
    const version = spec.indexOf("@", 1);
    if (version <= 0) continue;
    const bare = spec.slice(0, version);
    found.set(spec, isCertain || found.get(bare) === true);
    found.delete(bare);
  }
  return found;
}
