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
