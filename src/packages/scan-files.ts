import type { ImportedPackages, ScanRequest } from "./scan-request.ts";

/**
 * The packages that the files import: sorted, each once. Parses, and loads the language's parser: for a process of its
 * own.
 */
export async function scanFiles({ language, files, paths, main }: ScanRequest): Promise<ImportedPackages> {
  if (language === "python") {
    const { pythonPackages } = await import("./python-packages.ts");
    return parted(pythonPackages(files, paths, main));
  }
  const { npmPackages } = await import("./npm-packages.ts");
  return parted(npmPackages(files, main));
}

function parted(found: ReadonlyMap<string, boolean>): ImportedPackages {
  const names = [...found.keys()].toSorted();
  return { needed: names.filter((name) => found.get(name)), optional: names.filter((name) => !found.get(name)) };
}
