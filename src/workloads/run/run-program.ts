import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { runnerInput, type RunnerJob } from "../program/runner-job.ts";
import { judgeRun, type JudgedRun } from "./conclude-run.ts";
import type { StartedProgram } from "./start-program.ts";
import { watchProcess } from "./watch-process.ts";
import type { FirstCause } from "../../sandbox/outcome.ts";

/** A program to be run by a runner, and how it is watched and ended. */
export interface ProgramRun {
  readonly sandbox: Pick<Sandbox, "output" | "stats" | "measure" | "state">;
  readonly record: OpenRun;
  /** Starts the runner; `redact` removes secrets from what the program asked for. */
  readonly start: (redact: (text: string) => string) => Promise<StartedProgram>;
  readonly job: RunnerJob;
  /** The program's own input; writing stops when the program ends. */
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly redaction: Redaction;
  readonly timeoutMs: number;
  /** Cap of each stream (SPEC OU3). */
  readonly maxOutputBytes: number;
  readonly onOutput: (stream: OutputChunk["stream"], bytes: Uint8Array) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Ends the program and everything it started. */
  readonly end: (process: Process) => Promise<void>;
  /** Ends what it left running, where anything runs after it. */
  readonly cleanUp?: ((process: Process) => Promise<void>) | undefined;
  /** As `EndedRun`; asked after that. */
  readonly isLost: () => boolean | Promise<boolean>;
  /** Numbers of its sandbox from before, if that already had programs. */
  readonly before?: ContainerStats | undefined;
}

/** How long the next output of an ended program may still take: nothing else holds its streams open for long. */
const drainMs = 2_000;

/** Starts a program, watches it to its end and judges it. @throws what starting it throws */
export async function runProgram(run: ProgramRun): Promise<JudgedRun<BoundedOutput>> {
  const { sandbox, record, isLost, redaction, timeoutMs, signal, monotonicMs, before } = run;
  using program = await run.start((text) => redaction.text(text));
  const { process } = program;
  const watched = watchProcess({
    process,
    sandbox,
    redaction,
    keep: () => new BoundedOutput(run.maxOutputBytes),
    input: runnerInput(run.job, run.stdin),
    onOutput: ({ stream, bytes }) => run.onOutput(stream, bytes),
  });
  const numbers = lastNumbers({ sandbox, outputEnded: watched.outputEnded, monotonicMs });
  using memory = before === undefined ? undefined : new MemoryUse(sandbox, before);
  const end = await watched.untilEnd({ timeoutMs, drainMs, signal, monotonicMs, end: () => run.end(process) });
  memory?.[Symbol.dispose]();
  await run.cleanUp?.(process);
  return await judgeRun({
    sandbox: { stats: () => numbers(end), state: sandbox.state },
    record,
    end,
    isLost,
    oomKillsBefore: before?.oomKills,
    memoryPeakBytes: memory && ((after) => memory.peakBytes(after)),
    networkReport: async () => {
      const report = await program.networkReport();
      // What it left running has no network while its results are read.
      program[Symbol.dispose]();
      return report;
    },
  });
}

/** How long before its end is known a program's last numbers may have been asked. */
const earlyMs = 20;

interface NumbersOptions {
  readonly sandbox: Pick<Sandbox, "stats">;
  /** Resolves when the program's output has ended. */
  readonly outputEnded: Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/**
 * The last numbers of a sandbox, asked as soon as its program's output ends: mostly that is the program's end, of which the
 * engine tells a little later. Of one that did not end well, or that went on, they are asked again: a process may have been
 * killed for want of memory meanwhile.
 */
export function lastNumbers({
  sandbox,
  outputEnded,
  monotonicMs,
}: NumbersOptions): (end: FirstCause) => Promise<ContainerStats> {
  let early: { readonly askedMs: number; readonly stats: Promise<ContainerStats> } | undefined;
  const ask = (): void => void (early = { askedMs: monotonicMs(), stats: sandbox.stats() });
  outputEnded.then(ask, () => undefined);
  return ({ exitCode, interruption }) => {
    const asked = exitCode === 0 && interruption === null ? early : undefined;
    return asked !== undefined && monotonicMs() - asked.askedMs <= earlyMs ? asked.stats : sandbox.stats();
  };
}

/** Until the first look; each further one waits twice as long as the one before. */
const firstLookMs = 20;
const maxBetweenLooksMs = 1_000;

/** Memory of a sandbox that lives longer than its programs, while one of them runs: until it is disposed of. */
export class MemoryUse implements Disposable {
  readonly #sandbox: Pick<Sandbox, "measure">;
  readonly #before: ContainerStats;
  #seenBytes: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `before`: numbers of the sandbox before the program started. */
  constructor(sandbox: Pick<Sandbox, "measure">, before: ContainerStats) {
    this.#sandbox = sandbox;
    this.#before = before;
    this.#lookIn(firstLookMs);
  }

  /**
   * The highest use while the program ran: the kernel's peak where it rose meanwhile, which it keeps for the whole life of
   * a sandbox, otherwise the highest that was seen; null where none was.
   */
  peakBytes({ memoryPeakBytes: peak }: ContainerStats): number | null {
    const { memoryPeakBytes: former, memoryBytes } = this.#before;
    // No numbers at all do not mean that there was no peak.
    const isKnown = former !== null || memoryBytes !== null;
    return peak !== null && isKnown && peak > (former ?? 0) ? peak : this.#seenBytes;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #lookIn(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#look(delayMs), delayMs).unref();
  }

  async #look(delayMs: number): Promise<void> {
    const bytes = await this.#sandbox.measure().then(
      ({ memoryBytes }) => memoryBytes,
      // It is ending: whoever judges the run finds that out.
      () => null,
    );
    if (this.#isOver) return;
    if (bytes !== null) this.#seenBytes = Math.max(this.#seenBytes ?? 0, bytes);
    this.#lookIn(Math.min(2 * delayMs, maxBetweenLooksMs));
  }
}
