import { constants } from "node:fs";
import { open } from "node:fs/promises";
import ignore, { type Ignore } from "ignore";
import { errorCode } from "../../errors/error-code.ts";
import type { TreeFilter } from "../../sandbox/copy/read-host-tree.ts";
import type { HostFolder } from "../../sandbox/copy/host-folder.ts";
import { readBounded } from "../../sandbox/mounts/read-bounded.ts";

/** Folders that tools make anew: dependencies, caches, virtual environments; and Git's own, which may hold credentials. */
const madeAnew = new Set([
  ...[".git", "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".nyc_output", ".gradle"],
]);

const maxIgnoreBytes = 1024 * 1024;

/** Rules of one `.gitignore`, for what is below the folder that it stands in. */
interface Rules {
  readonly prefix: string;
  readonly ignore: Ignore;
}

/** Leaves out what tools make anew and what `.gitignore` names, as Git reads it: deeper rules win. */
export function ignoringFilter(outer: readonly Rules[] = []): TreeFilter {
  return {
    enter: async (folder, prefix) => {
      const rules = await rulesIn(folder, prefix);
      const all = rules === null ? outer : [...outer, rules];
      return { takes: (path, name, isFolder) => takes(all, path, name, isFolder), below: ignoringFilter(all) };
    },
  };
}

function takes(rules: readonly Rules[], path: string, name: string, isFolder: boolean): boolean {
  if (madeAnew.has(name)) return false;
  for (const { prefix, ignore: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(`${path.slice(prefix.length)}${isFolder ? "/" : ""}`);
    if (ignored || unignored) return unignored;
  }
  return true;
}

async function rulesIn(folder: HostFolder, prefix: string): Promise<Rules | null> {
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using file = await open(folder.at(".gitignore"), flags);
    const bytes = (await file.stat()).isFile() ? await readBounded(file, maxIgnoreBytes) : null;
    return bytes === null ? null : { prefix, ignore: ignore().add(Buffer.from(bytes).toString("utf8")) };
  } catch (error) {
    // None, or a link: Git follows none either.
    if (["ENOENT", "ELOOP", "EACCES"].includes(errorCode(error))) return null;
    throw error;
  }
}
