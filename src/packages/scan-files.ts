import { languageOf, type Ecosystem } from "../languages/language-table.ts";
import type { ImportedPackages, ScanRequest } from "./imported-packages.ts";

/** Each loads its parser. */
const scanners: Readonly<Record<Ecosystem, (request: ScanRequest) => Promise<ReadonlyMap<string, boolean>>>> = {
  python: async ({ files, paths, main }) => (await import("./python-packages.ts")).pythonPackages(files, paths, main),
  npm: async ({ files, main }) => (await import("./npm-packages.ts")).npmPackages(files, main),
};

/**
 * The packages that the files import: sorted, each once. Parses, and loads the language's parser: for a process of its
 * own.
 */
export async function scanFiles(request: ScanRequest): Promise<ImportedPackages> {
  const { ecosystem } = languageOf(request.language);
  return parted(ecosystem === null ? new Map() : await scanners[ecosystem](request));
}

function parted(found: ReadonlyMap<string, boolean>): ImportedPackages {
  const names = [...found.keys()].toSorted();
  return { needed: names.filter((name) => found.get(name)), optional: names.filter((name) => !found.get(name)) };
}
