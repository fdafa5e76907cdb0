import type { OperationEvent } from "../../operations/contract/operation-event.ts";
import { denialWarning, type Denial } from "../../policy/network/denial.ts";
import { isWall, type Isolation } from "../../policy/isolation.ts";
import { isEngineCaveat } from "../../policy/engine-caveats.ts";
import { describeDenial } from "./error-report.ts";
import { personalCaveats, type KnownCaveats } from "./known-caveats.ts";
import type { OutputStream } from "./program-output.ts";
import { ProgressLine } from "./progress-line.ts";
import { escapeLine } from "./terminal-escape.ts";

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
