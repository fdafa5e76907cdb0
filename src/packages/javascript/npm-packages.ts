import type { SourceFile } from "../imports/scan-request.ts";
import { findSpecifiers } from "./find-specifiers.ts";
import { npmPackage } from "./npm-package.ts";

/** The packages that files of JavaScript and TypeScript import, in no order. */
export function npmPackages(files: readonly SourceFile[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path, content } of files) {
    for (const specifier of findSpecifiers(path, content)) {
      const spec = npmPackage(specifier);
      if (spec !== null) found.add(spec);
    }
  }
  // One with its version stands for the same package without.
  for (const spec of found) {
    const version = spec.indexOf("@", 1);
    if (version > 0) found.delete(spec.slice(0, version));
  }
  return found;
}
