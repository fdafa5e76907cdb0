import { untilWritable } from "../../base/until-writable.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Process } from "../../engines/engine.ts";
import type { RingOutput } from "../../base/ring-output.ts";
import { endProcess } from "./end-process.ts";
import { followOutput, keptBytes } from "./follow-output.ts";

/** `lost`: its container went away under it. */
export type BackgroundState = "running" | "exited" | "lost";

export interface BackgroundProcessParts {
  readonly id: string;
  readonly command: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly process: Process;
  readonly isHoused: () => boolean;
  readonly onEnded: () => void;
}

/** How long a process may take to read what was written to it. */
const writeMs = 10_000;

/** A process that outlives the call that started it, with its newest output. */
export class BackgroundProcess {
  readonly id: string;
  readonly command: readonly string[];
  readonly startedAtMs: number;
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  readonly #process: Process;
  #state: BackgroundState = "running";
  #exitCode: number | null = null;
  #isOutputOver = false;

  constructor(parts: BackgroundProcessParts) {
    const { id, command, startedAtMs, process } = parts;
    this.id = id;
    this.command = command;
    this.startedAtMs = startedAtMs;
    this.#process = process;
    const followed = followOutput(process, keptBytes.process);
    this.stdout = followed.stdout;
    this.stderr = followed.stderr;
    const over = (): void => void (this.#isOutputOver = true);
    followed.ended.then(over, over);
    this.ended = process.exit
      .then(
        ({ exitCode }) => this.#end(parts.isHoused() ? "exited" : "lost", exitCode),
        () => this.#end("lost", null),
      )
      .finally(parts.onEnded);
  }

  get state(): BackgroundState {
    return this.#state;
  }

  /** Null while it runs, and when it was lost. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  /** Whether no more output comes. */
  get isOutputOver(): boolean {
    return this.#isOutputOver;
  }

  /** Writes to its standard input, and ends that when asked. @throws INVALID_REQUEST when it has ended or does not read */
  async write(text: string, end: boolean): Promise<void> {
    const { stdin } = this.#process;
    if (this.#state !== "running" || stdin.writableEnded || stdin.destroyed) throw this.#closed();
    if (text !== "" && !stdin.write(text)) {
      const late = AbortSignal.timeout(writeMs);
      await Promise.race([
        untilWritable(stdin),
        this.ended,
        new Promise((resolve) => late.addEventListener("abort", resolve, { once: true })),
      ]);
      if (late.aborted && stdin.writableNeedDrain) throw this.#notReading();
    }
    if (end) stdin.end();
  }

  /** Ends it with all that it started. @throws SANDBOX_LOST when something may be left */
  async stop(): Promise<void> {
    if (this.#state === "running") await endProcess(this.#process);
  }

  #end(state: "exited" | "lost", exitCode: number | null): void {
    this.#state = state;
    this.#exitCode = state === "exited" ? exitCode : null;
  }

  #closed(): GloveboxError {
    const why = this.#state === "running" ? "its standard input was closed" : "it has ended";
    return new GloveboxError("INVALID_REQUEST", `Process ${this.id} takes no more input: ${why}.`, {
      suggestion: "Start another process.",
      context: { process_id: this.id, state: this.#state },
    });
  }

  #notReading(): GloveboxError {
    return new GloveboxError("TIMEOUT", `Process ${this.id} does not read its standard input.`, {
      suggestion: "Look at what it does, or stop it; what was written reaches it when it reads again.",
      context: { process_id: this.id },
    });
  }
}
