import { Writable } from "node:stream";
import { settlesWithin } from "../../../base/abort.ts";
import { mebibyte } from "../../../base/bytes.ts";
import type { OutputChunk, Process, ProcessExit } from "../../../engines/engine.ts";
import { ReportReader, type CallReport } from "./read-report.ts";

/** What stands between a call's output and what comes after it; the token is made anew for each call. */
export function markOf(token: string): Buffer {
  return Buffer.from(`\u001e${token}\u001e`);
}

/** Finds a mark in a stream of bytes, wherever it is cut. */
export class MarkFinder {
  readonly #mark: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #isFound = false;

  constructor(mark: Buffer) {
    this.#mark = mark;
  }

  get isFound(): boolean {
    return this.#isFound;
  }

  /** The bytes before the mark that are certain by now, and once it was found those behind it. */
  take(bytes: Uint8Array): { readonly before: Buffer; readonly behind: Buffer } {
    const all = Buffer.concat([this.#held, bytes]);
    this.#held = Buffer.alloc(0);
    const none = Buffer.alloc(0);
    if (this.#isFound) return { before: none, behind: all };
    const at = all.indexOf(this.#mark);
    if (at !== -1) {
      this.#isFound = true;
      return { before: all.subarray(0, at), behind: all.subarray(at + this.#mark.length) };
    }
    const begins = this.#beginningAt(all);
    this.#held = all.subarray(begins);
    return { before: all.subarray(0, begins), behind: none };
  }

  /** What was held because it might have been the mark's beginning. */
  rest(): Buffer {
    return this.#held;
  }

  /** Where the bytes end with the beginning of a mark; their length where they do not. */
  #beginningAt(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.#mark.length + 1); at < bytes.length; at += 1) {
      if (bytes.subarray(at).equals(this.#mark.subarray(0, bytes.length - at))) return at;
    }
    return bytes.length;
  }
}

/** Bytes behind the end of a call that wait for the next; more can only come of a program that keeps its call from ending. */
const maxEarlyBytes = mebibyte;
/** How long an interpreter whose input has ended may take to end. */
const dismissMs = 5_000;

/** One call, as a process that has its part of the interpreter's streams. */
export interface InterpreterCall {
  /** What its tracebacks name it. */
  readonly name: string;
  readonly process: Process;
  /** Null until it has ended by itself. */
  report(): CallReport | null;
}

/**
 * An interpreter that lives from call to call. Its calls run one after another; whatever ends one of them by force ends it,
 * and its variables with it. What it says of a call is the program's word: it decides about that program's own result only.
 */
export class KeptInterpreter {
  readonly #process: Process;
  readonly #chunks: AsyncIterator<OutputChunk>;
  /** What came behind the end of a call: of threads that go on. */
  readonly #early: OutputChunk[] = [];
  #earlyBytes = 0;
  #isOver = false;
  #isBusy = false;
  #calls = 0;

  constructor(process: Process) {
    this.#process = process;
    this.#chunks = process.output[Symbol.asyncIterator]();
    const over = (): void => void (this.#isOver = true);
    process.exit.then(over, over);
  }

  /** Whether it has ended, and its variables are gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The call whose job has the token; its standard input takes that job. */
  call(token: string): InterpreterCall {
    let report: CallReport | null = null;
    const { promise, resolve } = Promise.withResolvers<ProcessExit>();
    const process = this.#process;
    this.#calls += 1;
    this.#isBusy = true;
    return {
      name: `<call ${this.#calls}>`,
      report: () => report,
      process: {
        stdin: new Writable({
          // The interpreter's own input stays open for the next call.
          write: (chunk: Uint8Array, _, done) => void process.stdin.write(chunk, () => done()),
        }),
        output: this.#outputOf(token, (ended) => {
          report = ended;
          this.#isBusy = false;
          resolve({ exitCode: ended.exitCode });
        }),
        exit: Promise.race([promise, process.exit]),
        kill: async (signal) => {
          this.#isOver = true;
          await process.kill(signal);
        },
        ...(process.isGone === undefined ? {} : { isGone: () => process.isGone?.() ?? Promise.resolve(true) }),
      },
    };
  }

  /** Interrupts the call that runs, as Ctrl+C would; does nothing between calls. */
  async interrupt(): Promise<void> {
    if (!this.#isBusy || this.#isOver) return;
    // A program of another context may have stopped it.
    this.#process.resume?.();
    await this.#process.signal?.("SIGINT");
  }

  /** It gets no more calls; whoever says so ends its process. */
  giveUp(): void {
    this.#isOver = true;
  }

  /** Lets it end between two calls; resolves to whether it has. */
  async end(): Promise<boolean> {
    this.#isOver = true;
    this.#process.stdin.end();
    return settlesWithin(this.#process.exit, dismissMs);
  }

  /** Ends it with everything it started. */
  get process(): Process {
    return this.#process;
  }

  async *#outputOf(token: string, onEnd: (report: CallReport) => void): AsyncGenerator<OutputChunk> {
    const mark = markOf(token);
    const finders = { stdout: new MarkFinder(mark), stderr: new MarkFinder(mark) };
    const early = this.#early.splice(0);
    this.#earlyBytes = 0;
    const reader = new ReportReader();
    let report: CallReport | null = null;
    while (report === null || !finders.stderr.isFound) {
      const chunk = early.shift() ?? (await this.#next());
      if (chunk === undefined) {
        for (const stream of ["stdout", "stderr"] as const) yield { stream, bytes: finders[stream].rest() };
        return;
      }
      const taken = finders[chunk.stream].take(chunk.bytes);
      if (taken.before.length > 0) yield { stream: chunk.stream, bytes: taken.before };
      if (chunk.stream === "stderr") this.#keepEarly("stderr", taken.behind);
      else if (report === null && finders.stdout.isFound) {
        const read = reader.take(taken.behind);
        if (read === false) return this.#endByForce();
        if (read !== null) {
          ({ report } = read);
          this.#keepEarly("stdout", read.behind);
        }
      } else this.#keepEarly("stdout", taken.behind);
      if (this.#earlyBytes > maxEarlyBytes) return this.#endByForce();
    }
    onEnd(report);
  }

  async #next(): Promise<OutputChunk | undefined> {
    const next = await this.#chunks.next();
    return next.done === true ? undefined : next.value;
  }

  #keepEarly(stream: OutputChunk["stream"], bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#early.push({ stream, bytes });
    this.#earlyBytes += bytes.length;
  }

  /** What it goes on to write, after half of a call's end or a report that is none, is nobody's. */
  async #endByForce(): Promise<void> {
    this.#early.length = 0;
    this.#isOver = true;
    await this.#process.kill("SIGKILL");
    while ((await this.#next()) !== undefined);
  }
}
