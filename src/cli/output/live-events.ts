import type { OperationEvent } from "../../operations/contract/wire-values.ts";
import { denialWarning, type Denial } from "../../policy/network/denial.ts";
import { isWall, type Isolation } from "../../policy/isolation.ts";
import { isEngineCaveat } from "../../policy/engine-caveats.ts";
import { describeDenial } from "./error-report.ts";
import { ProgressLine, type OutputStream } from "../command-io.ts";
import { escapeLine } from "./terminal-text.ts";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readHost } from "../../config/host/host.ts";

const dayMs = 24 * 60 * 60_000;
/** Of the file, and of the sentences in it: more than all engines have. */
const maxBytes = 64 * 1024;
const maxKnown = 200;

interface KnownCaveatsOptions {
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
function personalCaveats(stderr: { readonly isTTY?: boolean }): KnownCaveats | null {
  if (stderr.isTTY !== true) return null;
  const { stateDirectory: folder, pid } = readHost();
  return new KnownCaveats({ folder, pid, now: () => Date.now() });
}

type Output = Extract<OperationEvent, { type: "output" }>;

/** Refused connections that are listed, each once. */
const maxDenials = 100;

export interface LiveEventsOptions {
  /** Receives the program's output; default: it is dropped. */
  readonly onOutput?: ((output: Output) => void | Promise<void>) | undefined;
  /** Nothing is shown, neither progress nor warnings nor refused connections (`--quiet`); default false. */
  readonly isQuiet?: boolean | undefined;
  /** What the person knows already; null: nothing. Default: kept in the user's folder if stderr is a terminal. */
  readonly caveats?: Pick<KnownCaveats, "isNew"> | null | undefined;
}

/** What a result tells beside its outcome. */
interface ToldResult {
  readonly warnings: readonly string[];
  readonly isolation?: Isolation | undefined;
}

/** Said once below caveats that are not shown again for a day. */
const onceADay = "glovebox: such limits of an engine are shown once a day; `glovebox doctor --verbose` lists them.\n";

/** Shows on stderr what happens during a call: progress on one line, refused connections, and warnings, each once. */
export class LiveEvents {
  readonly #stderr: OutputStream;
  readonly #progress: ProgressLine;
  readonly #onOutput: LiveEventsOptions["onOutput"];
  readonly #isQuiet: boolean;
  readonly #caveats: Pick<KnownCaveats, "isNew"> | null;
  #hasNewCaveats = false;
  readonly #shown = new Set<string>();
  readonly #denials: Denial[] = [];
  /** Lines about refused connections. */
  readonly #written = new Set<string>();

  constructor(stderr: OutputStream, options: LiveEventsOptions = {}) {
    const { onOutput, isQuiet = false, caveats = personalCaveats(stderr) } = options;
    this.#stderr = stderr;
    this.#progress = new ProgressLine(stderr);
    this.#onOutput = onOutput;
    this.#isQuiet = isQuiet;
    this.#caveats = caveats;
  }

  /** Sentences already shown: warnings, and the reasons and remedies of refused connections. */
  get shown(): ReadonlySet<string> {
    return this.#shown;
  }

  readonly onEvent = async (event: OperationEvent): Promise<void> => {
    if (this.#isQuiet) {
      if (event.type === "output") await this.#onOutput?.(event);
      return;
    }
    if (event.type === "progress") return this.#progress.show(event.message, event.fraction);
    this.#progress.clear();
    if (event.type === "denied") this.#showDenial(event.denial);
    if (event.type === "warning") this.warn(event.message);
    if (event.type === "output") await this.#onOutput?.(event);
  };

  /** A refusal that was shown already says nothing new: programs try again, and a hostile one with ever new names. */
  #write(line: string): void {
    if (this.#written.has(line) || this.#written.size > maxDenials) return;
    this.#written.add(line);
    const isLast = this.#written.size > maxDenials;
    this.#stderr.write(isLast ? "glovebox: refused further connections, which are not listed.\n" : line);
  }

  /** Shows a warning, once; a caveat of an engine only if it is new to the person. */
  warn(message: string): void {
    if (this.#isQuiet || this.#shown.has(message)) return;
    this.#shown.add(message);
    if (this.#caveats !== null && isEngineCaveat(message)) {
      if (!this.#caveats.isNew(message)) return;
      this.#hasNewCaveats = true;
    }
    this.#stderr.write(`glovebox: ${escapeLine(message)}\n`);
  }

  /** The warnings of a result that were not shown while it came about, each on a line. */
  warnAll({ warnings, isolation }: ToldResult): void {
    if (this.#isQuiet) return;
    // Where there is no wall, all that is missing is said each time.
    if (!isWall(isolation)) return this.#warnWithoutWalls(warnings);
    for (const warning of warnings) this.warn(warning);
    if (this.#hasNewCaveats) this.#stderr.write(onceADay);
    this.#hasNewCaveats = false;
  }

  #warnWithoutWalls(warnings: readonly string[]): void {
    for (const warning of warnings.filter((each) => !this.#shown.has(each))) {
      this.#shown.add(warning);
      this.#stderr.write(`glovebox: ${escapeLine(warning)}\n`);
    }
  }

  /** What was shown as it happened is not repeated as a warning of the result. */
  #showDenial(denial: Denial): void {
    this.#denials.push(denial);
    for (const text of [denial.reason, denial.remedy, denialWarning(this.#denials, this.#denials.length)])
      this.#shown.add(text);
    this.#write(describeDenial(denial));
  }

  /** Clears the progress line. */
  [Symbol.dispose](): void {
    this.#progress.clear();
  }
}
