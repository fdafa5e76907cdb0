import { BoundedOutput } from "../../base/streams/bounded-output.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { runnerInput, type RunnerJob } from "../program/runner-job.ts";
import { judgeRun, type JudgedRun } from "./conclude-run.ts";
import { lastNumbers } from "./last-numbers.ts";
import { MemoryUse } from "./memory-use.ts";
import type { StartedProgram } from "./start-program.ts";
import { watchProcess } from "./watch-process.ts";

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
