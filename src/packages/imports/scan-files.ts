import type { ScanRequest } from "./scan-request.ts";

/**
 * The packages that the files import: sorted, each once. Parses, and loads the language's parser: for a process of its
 * own.
 */
export async function scanFiles({ language, files, paths }: ScanRequest): Promise<readonly string[]> {
  if (language === "python") {
    const { pythonPackages } = await import("../python/python-packages.ts");
    return [...pythonPackages(files, paths)].toSorted();
  }
  const { npmPackages } = await import("../javascript/npm-packages.ts");
  return [...npmPackages(files)].toSorted();
}
