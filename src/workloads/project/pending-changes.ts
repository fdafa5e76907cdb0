/** What has become of one path: `put` has new content, `folder` is there, the others are gone. */
export type ChangeKind = "put" | "folder" | "gone" | "gone-folder";

interface Change {
  readonly kind: ChangeKind;
}

/** Changes that go into the sandbox together. */
export interface ChangeBatch {
  /** In their order of paths. */
  readonly put: readonly string[];
  readonly gone: readonly string[];
  /** The inner ones first. */
  readonly goneFolders: readonly string[];
  /** Call when they are inside: what has changed again meanwhile stays to be sent. */
  readonly done: () => void;
}

/** What is to be sent still, the newest word on each path. */
export class PendingChanges {
  readonly #changes = new Map<string, Change>();

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  set(path: string, kind: ChangeKind): void {
    this.#changes.set(path, { kind });
  }

  /** The next ones, at most so many. What is gone comes last, so that a file that was moved is never missing. */
  take(maxEntries: number): ChangeBatch {
    const isGone = ({ kind }: Change): boolean => kind === "gone" || kind === "gone-folder";
    const all = [...this.#changes];
    const put = all.filter(([, change]) => !isGone(change)).toSorted(byPath);
    const gone = all.filter(([, change]) => isGone(change)).toSorted(byPath);
    const taken = [...put, ...gone.toReversed()].slice(0, maxEntries);
    const pathsOf = (...kinds: readonly ChangeKind[]): readonly string[] =>
      taken.filter(([, { kind }]) => kinds.includes(kind)).map(([path]) => path);
    return {
      put: pathsOf("put", "folder"),
      gone: pathsOf("gone"),
      goneFolders: pathsOf("gone-folder"),
      done: () => {
        for (const [path, change] of taken) if (this.#changes.get(path) === change) this.#changes.delete(path);
      },
    };
  }
}

function byPath([a]: readonly [string, Change], [b]: readonly [string, Change]): number {
  return a < b ? -1 : 1;
}
