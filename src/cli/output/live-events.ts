import type { OperationEvent } from "../../operations/contract/operation-event.ts";
import { denialWarning, type Denial } from "../../policy/network/denial.ts";
import { describeDenial } from "./error-report.ts";
import type { OutputStream } from "./program-output.ts";
import { ProgressLine } from "./progress-line.ts";
import { escapeLine } from "./terminal-escape.ts";

type Output = Extract<OperationEvent, { type: "output" }>;

/** Shows on stderr what happens during a call: progress on one line, refused connections, and warnings, each once. */
export class LiveEvents {
  readonly #stderr: OutputStream;
  readonly #progress: ProgressLine;
  readonly #onOutput: ((output: Output) => void | Promise<void>) | undefined;
  readonly #shown = new Set<string>();
  readonly #denials: Denial[] = [];

  /** @param onOutput receives the program's output; default: it is dropped */
  constructor(stderr: OutputStream, onOutput?: (output: Output) => void | Promise<void>) {
    this.#stderr = stderr;
    this.#progress = new ProgressLine(stderr);
    this.#onOutput = onOutput;
  }

  /** Sentences already shown: warnings, and the reasons and remedies of refused connections. */
  get shown(): ReadonlySet<string> {
    return this.#shown;
  }

  readonly onEvent = async (event: OperationEvent): Promise<void> => {
    if (event.type === "progress") return this.#progress.show(event.message, event.fraction);
    this.#progress.clear();
    if (event.type === "denied") this.#showDenial(event.denial);
    if (event.type === "warning") this.warn(event.message);
    if (event.type === "output") await this.#onOutput?.(event);
  };

  warn(message: string): void {
    if (this.#shown.has(message)) return;
    this.#shown.add(message);
    this.#stderr.write(`glovebox: ${escapeLine(message)}\n`);
  }

  /** What was shown as it happened is not repeated as a warning of the result. */
  #showDenial(denial: Denial): void {
    this.#denials.push(denial);
    for (const text of [denial.reason, denial.remedy, denialWarning(this.#denials, this.#denials.length)])
      this.#shown.add(text);
    this.#stderr.write(describeDenial(denial));
  }

  /** Clears the progress line. */
  [Symbol.dispose](): void {
    this.#progress.clear();
  }
}
