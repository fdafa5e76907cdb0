import type { FolderTaking, TreeFilter } from "../../sandbox/copy/read-host-tree.ts";
import { isIgnored, rulesWithin, type Rules } from "./ignore-rules.ts";
import { TrackedFiles } from "./tracked-files.ts";
import type { TrackedFolder } from "./tracked-tree.ts";

/** Git's own folder, which may hold credentials, or the file that leads to it. */
const gitName = ".git";
/** Folders that tools make anew: dependencies, caches, virtual environments. */
const madeAnew = new Set([
  ...["node_modules", "__pycache__", ".venv", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".nyc_output", ".gradle"],
]);

/** Why what a filter tells is left out. */
export const leftOutByName = "since tools make it anew";

/** What a copy's owner would not expect. */
export interface FilterNotes {
  /** Left out for its name (`leftOutByName`), though git does not ignore it. */
  readonly onLeftOut: (path: string) => void;
  /** It is not known what git tracks: one sentence, at most one for each repository. */
  readonly onUnknown: (sentence: string) => void;
}

/** How a folder is taken. */
interface Taking {
  readonly notes: FilterNotes;
  readonly files: TrackedFiles;
  /** Of the folders above. */
  readonly rules: readonly Rules[];
  /** What each repository that it is in tracks below it. */
  readonly tracked: readonly TrackedFolder[];
  /** Why only what is tracked is taken of it: a rule ignores it, or only its name leaves it out. */
  readonly onlyTracked: "ignored" | "made-anew" | null;
}

/**
 * Takes what git tracks, and else leaves out what tools make anew and what `.gitignore` names, as Git reads it: deeper rules
 * win. Git's own folder is never taken. Its `enter` throws as `rulesWithin`.
 */
export function ignoringFilter(notes: FilterNotes): TreeFilter {
  return {
    enter: async (folder, prefix) => {
      const files = await TrackedFiles.of(folder, notes.onUnknown);
      return filterOf({ notes, files, rules: [], tracked: [], onlyTracked: null }).enter(folder, prefix);
    },
  };
}

function filterOf(taking: Taking): TreeFilter {
  return {
    enter: async (folder, prefix) => {
      // Git does not look for rules in what it ignores.
      if (taking.onlyTracked !== null) return takingOf(taking);
      const [rules, repository] = await Promise.all([
        rulesWithin(folder, prefix, taking.rules),
        taking.files.below(folder, prefix),
      ]);
      const tracked = repository === null ? taking.tracked : [...taking.tracked, repository];
      return takingOf({ ...taking, rules, tracked });
    },
  };
}

function takingOf(taking: Taking): FolderTaking {
  const { notes, files: repositories, rules, tracked, onlyTracked } = taking;
  return {
    takes: (path, name, isFolder) => {
      if (name === gitName) return false;
      if (tracked.some(({ files, folders }) => (isFolder ? folders : files).has(name))) return true;
      if (onlyTracked === "ignored" || isIgnored(rules, path, isFolder)) return false;
      if (onlyTracked === null && !madeAnew.has(name)) return true;
      if (!repositories.isIgnoredFromAbove(path, isFolder)) notes.onLeftOut(path);
      return false;
    },
    below: (path, name) => {
      const inside = tracked.flatMap(({ folders }) => folders.get(name) ?? []);
      return filterOf({ ...taking, tracked: inside, onlyTracked: cutOf(taking, path, name, inside) });
    },
  };
}

/** What of a folder that is taken is taken; a submodule is one that git looks into, wherever it lies. */
function cutOf(
  { rules, onlyTracked }: Taking,
  path: string,
  name: string,
  inside: readonly TrackedFolder[],
): Taking["onlyTracked"] {
  // What is not tracked was taken for its name and by the rules.
  if (inside.length === 0 || inside.some(({ isRepository }) => isRepository)) return null;
  if (onlyTracked === "ignored" || isIgnored(rules, path, true)) return "ignored";
  return madeAnew.has(name) ? "made-anew" : onlyTracked;
}
