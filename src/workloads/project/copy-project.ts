import { readHostTree, type FolderTaking, type TreeFilter } from "../../sandbox/copy/read-host-tree.ts";
import { isIgnored, rulesWithin, type Rules } from "./ignore-rules.ts";
import { TrackedFiles } from "./tracked-files.ts";
import type { TrackedFolder } from "./tracked-tree.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { workFolder } from "../../policy/scratch.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { HostFolder } from "../../base/host-folder.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Git's own folder, which may hold credentials, or the file that leads to it. */
const gitName = ".git";
/** Folders that tools make anew: dependencies, caches, virtual environments. */
const madeAnew = new Set([
  ...["node_modules", "__pycache__", ".venv", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".nyc_output", ".gradle"],
]);

/** Why what a filter tells is left out. */
const leftOutByName = "since tools make it anew";

/** What a copy's owner would not expect. */
interface FilterNotes {
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

/** Where a project's copy lies in its sandbox. */
export const copyFolder: string = `${workFolder}/project`;

/** Files, folders and links of a project. */
export const maxEntries = 100_000;

/** A project, and how much of it is copied. */
export interface ProjectSource {
  /** The project's folder on this machine, open; it is read and never written. */
  readonly project: Pick<OpenPlace, "stablePath">;
  /** Whether ignored files are copied too. */
  readonly includeIgnored: boolean;
  /** Of all files together. */
  readonly maxBytes: number;
}

/**
 * Copies a project into a sandbox, which nothing ever writes back; resolves to what was left out of it. Links stay links:
 * where they lead is inside the sandbox.
 * @throws POLICY_DENIED for more than fits, and what reading the project throws
 */
export async function copyProject(
  { project, includeIgnored, maxBytes }: ProjectSource,
  sandbox: Pick<Sandbox, "files">,
  { signal, platform }: CallOptions & { readonly platform: NodeJS.Platform },
): Promise<readonly string[]> {
  const budget = new CopyBudget({ maxBytes, maxEntries });
  await using folder = await HostFolder.of(project, platform);
  const unknown: string[] = [];
  const notes = {
    onLeftOut: (path: string) => budget.skip(path, leftOutByName),
    onUnknown: (sentence: string) => void unknown.push(sentence),
  };
  const filter = includeIgnored ? undefined : ignoringFilter(notes);
  await sandbox.files.writeTree(copyFolder, readHostTree(folder, budget, { filter }), { signal });
  return [...budget.warnings, ...unknown];
}

/** Names that one sentence tells. */
const maxNames = 10;
/** What is told once, whatever a program makes of the project. */
const maxOnce = 1_000;
/** Reasons are ours; there are few of them. */
type Reason =
  | "neither a file, a folder nor a link"
  | "not readable"
  | "names that are not UTF-8"
  | "too deep"
  | typeof leftOutByName;

/** What is not copied, and why. */
export class LeftOut {
  readonly #told = new Map<Reason, { readonly names: string[]; count: number }>();
  readonly #once = new Set<string>();
  readonly #sentences: string[] = [];

  add(path: string, reason: Reason): void {
    const told = this.#told.get(reason) ?? { names: [], count: 0 };
    told.count += 1;
    if (told.names.length < maxNames && !told.names.includes(path)) told.names.push(path);
    this.#told.set(reason, told);
  }

  /** What a filter tells each time that it looks, and this tells once. */
  get notes(): FilterNotes {
    return {
      onLeftOut: (path) => {
        if (this.#isNew(path)) this.add(path, leftOutByName);
      },
      onUnknown: (sentence) => {
        if (this.#isNew(sentence)) this.#sentences.push(sentence);
      },
    };
  }

  /** One sentence for each reason; what was told is not told again. */
  take(): readonly string[] {
    const sentences = [...this.#told].map(([reason, { names, count }]) => {
      const shown = names.map((name) => JSON.stringify(name.slice(0, 200)));
      const rest = count > names.length ? ` and ${count - names.length} more` : "";
      return `Left out, ${reason}: ${shown.join(", ")}${rest}.`;
    });
    this.#told.clear();
    return [...sentences, ...this.#sentences.splice(0)];
  }

  #isNew(text: string): boolean {
    if (this.#once.has(text) || this.#once.size >= maxOnce) return false;
    this.#once.add(text);
    return true;
  }
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
