import type { toolingChanges } from "../operations/contract/wire-values.ts";

/** What became of a file: made, written to or replaced, or gone. */
type ToolingChange = (typeof toolingChanges)[number];

/** A file through which a project runs code on its owner's machine, and that is not as it was. */
export interface ChangedToolingFile {
  /** That the path starts from, where there is more than one; left out: the project. */
  readonly root?: string;
  /** From the project's root; without characters that could forge a line or a direction of writing. */
  readonly path: string;
  readonly change: ToolingChange;
}

/** What identifies the state of each file, by its path from the project's root. */
export type ToolingSnapshot = ReadonlyMap<string, string>;

/** The files that differ, by path. A folder that is new or gone is left out where a file in it is named. */
export function compareTooling(before: ToolingSnapshot, after: ToolingSnapshot): readonly ChangedToolingFile[] {
  const changes = new Map<string, ToolingChange>();
  for (const [path, state] of after) {
    const earlier = before.get(path);
    if (earlier !== state) changes.set(path, earlier === undefined ? "new" : "changed");
  }
  for (const path of before.keys()) {
    if (!after.has(path)) changes.set(path, "removed");
  }
  const folders = new Set([...changes.keys()].flatMap(foldersAbove));
  return [...changes]
    .filter(([path, change]) => change === "changed" || !folders.has(path))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, change]) => ({ path: printable(path), change }));
}

/** Files of one place that are named one by one; of more only their folder is. */
const maxOfPlace = 8;

/**
 * The same in fewer entries: where many files of one place have changed, their folder is named for them, so that a
 * flood in one place does not hide another. Beyond `most` the rest is left out.
 */
export function shortenTooling(changed: readonly ChangedToolingFile[], most: number): readonly ChangedToolingFile[] {
  const places = Map.groupBy(changed, ({ root = "", path }) => `${root}\0${placeOf(path)}`);
  const shorten = (each: number): readonly ChangedToolingFile[] =>
    [...places.values()].flatMap((files) => (files.length > each ? files.slice(0, 1).map(placeAlone) : files));
  const shorter = shorten(maxOfPlace);
  return (shorter.length > most ? shorten(1) : shorter).slice(0, most);
}

/** Its whole path, as it is shown. */
export function pathOfTooling({ root, path }: ChangedToolingFile): string {
  return root === undefined ? path : `${root}/${path}`;
}

/** Why a look at the files that a project owner's tools run was cut short, and what to do about each. */
const gaps = {
  time: {
    what: "the look took longer than 2 s",
    instead: "repeat it when less is running",
  },
  many: {
    what: "a folder of them has more than 512 entries or is more than 16 deep",
    instead: "remove what does not belong there",
  },
  unreadable: {
    what: "a file or folder cannot be read",
    instead: "give its owner back the right to read it",
  },
  held: {
    what: "a program holds a lease on a file",
    instead: "end what runs in the project, then look again",
  },
  large: {
    what: "a file of git's is larger than is read (configuration 64 KiB, index 16 MiB)",
    instead: "read the configuration of the repositories in it yourself",
  },
  form: {
    what: "git's index has a form that is not read here",
    instead:
      "let `git update-index --no-split-index` write it anew from outside, or look at the repositories in it yourself",
  },
  repositories: {
    what: "there are more repositories in it than are looked into (64 of an index, 128 in all)",
    instead: "make a smaller folder the project",
  },
  search: {
    what: "only the first 1,024 of its folders, 32 deep, were searched for repositories that no index lists",
    instead: "look for new `.git` folders yourself, or make a smaller folder the project",
  },
  gone: {
    what: "the project itself cannot be read",
    instead: "put it back in its place",
  },
} as const satisfies Readonly<Record<string, { readonly what: string; readonly instead: string }>>;

export type ToolingGap = keyof typeof gaps;

/** One sentence each, without duplicates: what was not compared, and what to do. None where nothing was left out. */
export function gapSentences(found: Iterable<ToolingGap>): readonly string[] {
  return [...new Set(found)].toSorted().map((gap) => {
    const { what, instead } = gaps[gap];
    return `Not all files that tools of the project's owner run could be compared or locked, so that none is named proves nothing: ${what}. What to do: ${instead}.`;
  });
}

function placeAlone(file: ChangedToolingFile): ChangedToolingFile {
  return { ...file, path: placeOf(file.path), change: "changed" };
}

/** The entry of a git folder that a path lies in, else the first folder. */
function placeOf(path: string): string {
  return /^(?:.*?\/)?\.git(?:\/[^/]+)?(?=\/|$)/.exec(path)?.[0] ?? path.split("/", 1)[0] ?? path;
}

function foldersAbove(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** A name that a program chose, as it may be shown: control, format and separator characters as escapes. */
function printable(path: string): string {
  return path.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`,
  );
}
