import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readHost } from "../../config/host/host.ts";

const dayMs = 24 * 60 * 60_000;
/** Of the file, and of the sentences in it: more than all engines have. */
const maxBytes = 64 * 1024;
const maxKnown = 200;

export interface KnownCaveatsOptions {
  /** Folder of this user's data; made where it is missing. */
  readonly folder: string;
  /** Number of this process, by which its unfinished file differs from others'. */
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Which sentences a person has read within the last day, kept in a file of the user's. */
export class KnownCaveats {
  readonly #options: KnownCaveatsOptions;
  #known: Map<string, number> | null = null;

  constructor(options: KnownCaveatsOptions) {
    this.#options = options;
  }

  /**
   * Whether the sentence is to be shown: it has not been within the last day, and is remembered from now on. Where nothing can
   * be kept it always is.
   */
  isNew(sentence: string): boolean {
    const nowMs = this.#options.now();
    const known = (this.#known ??= this.#read());
    const key = createHash("sha256").update(sentence).digest("hex").slice(0, 32);
    const shownMs = known.get(key);
    // A clock that went back makes it new.
    if (shownMs !== undefined && nowMs >= shownMs && nowMs - shownMs < dayMs) return false;
    known.set(key, nowMs);
    this.#write(known, nowMs);
    return true;
  }

  get #file(): string {
    return path.join(this.#options.folder, "shown-caveats.json");
  }

  #read(): Map<string, number> {
    try {
      if (statSync(this.#file).size > maxBytes) return new Map();
      const entries = Object.entries(JSON.parse(readFileSync(this.#file, "utf8")) as Record<string, unknown>);
      return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
    } catch {
      return new Map();
    }
  }

  #write(known: ReadonlyMap<string, number>, nowMs: number): void {
    const fresh = [...known].filter(([, shownMs]) => nowMs - shownMs < dayMs).slice(-maxKnown);
    const unfinished = `${this.#file}.${this.#options.pid}`;
    try {
      mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, JSON.stringify(Object.fromEntries(fresh)), { mode: 0o600, flag: "wx" });
      renameSync(unfinished, this.#file);
    } catch {
      // It is shown again next time.
      removeIfPossible(unfinished);
    }
  }
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // There is no such folder.
  }
}

/** Those of this user, for a person at a terminal; null elsewhere: a file of output is read later, on its own. */
export function personalCaveats(stderr: { readonly isTTY?: boolean }): KnownCaveats | null {
  if (stderr.isTTY !== true) return null;
  const { stateDirectory: folder, pid } = readHost();
  return new KnownCaveats({ folder, pid, now: () => Date.now() });
}
