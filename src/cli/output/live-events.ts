import type { OperationEvent } from "../../operations/contract/operation-event.ts";
import { describeDenial } from "./error-report.ts";
import type { OutputStream } from "./program-output.ts";
import { ProgressLine } from "./progress-line.ts";
import { escapeLine } from "./terminal-escape.ts";

type Output = Extract<OperationEvent, { type: "output" }>;

/** Shows on stderr what goes on while a call works: progress on one line, refused connections, and warnings, each once. */
export class LiveEvents {
  readonly #stderr: OutputStream;
  readonly #progress: ProgressLine;
  readonly #onOutput: ((output: Output) => void | Promise<void>) | undefined;
  readonly #told = new Set<string>();

  /** @param onOutput what becomes of the program's output; default: it is dropped */
  constructor(stderr: OutputStream, onOutput?: (output: Output) => void | Promise<void>) {
    this.#stderr = stderr;
    this.#progress = new ProgressLine(stderr);
    this.#onOutput = onOutput;
  }

  /** Warnings that were shown. */
  get told(): ReadonlySet<string> {
    return this.#told;
  }

  readonly onEvent = async (event: OperationEvent): Promise<void> => {
    if (event.type === "progress") return this.#progress.show(event.message, event.fraction);
    this.#progress.clear();
    if (event.type === "denied") this.#stderr.write(describeDenial(event.denial));
    if (event.type === "warning") this.warn(event.message);
    if (event.type === "output") await this.#onOutput?.(event);
  };

  warn(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#stderr.write(`glovebox: ${escapeLine(message)}\n`);
  }

  /** Takes the line of progress away. */
  [Symbol.dispose](): void {
    this.#progress.clear();
  }
}
