import type { ReadProject } from "../project/read-project.ts";

const lockfiles = /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/;

/**
 * What to tell where a project lists dependencies and nothing will be installed, since no lockfile says which; null: there
 * is nothing to tell.
 */
export function unlockedNote({ names, manifest }: ReadProject): string | null {
  if (names.some((name) => lockfiles.test(name)) || !hasDependencies(manifest)) return null;
  return "package.json lists dependencies, but there is no lockfile, so nothing was installed before the tests. Make one with `npm install`, or pass a setup_command (--setup) such as `npm install`.";
}

function hasDependencies(manifest: string): boolean {
  try {
    const { dependencies, devDependencies } = (JSON.parse(manifest) ?? {}) as Readonly<Record<string, unknown>>;
    return [dependencies, devDependencies].some((each) => Object.keys(each ?? {}).length > 0);
  } catch {
    return false;
  }
}
