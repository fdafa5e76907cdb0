import { settlesWithin } from "../../base/abort.ts";
import { isSandboxLoss } from "../../errors/glovebox-error.ts";
import type { Process, OutputChunk } from "../../engines/engine.ts";
import type { FirstCause, Interruption } from "../../sandbox/outcome.ts";
import { kibibyte } from "../../base/bytes.ts";
import { feedStream } from "../../base/streams/chunks.ts";
import type { Redaction } from "../../policy/redaction.ts";
import { redactedOutput } from "../../sandbox/sandbox-output.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** How long an engine may take to report the end of what has been ended: some seconds on a loaded machine. */
const exitMs = 10_000;

interface EndLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Work of ours on the process's streams: if any of these rejects, so does the watch. */
  readonly streams: readonly Promise<unknown>[];
  /** Ends the process and everything it started, as far as possible. */
  readonly end: () => Promise<void>;
}

/** What is kept of a stream: its first bytes (`BoundedOutput`) or its newest (`RingOutput`). */
export interface KeptOutput {
  append(bytes: Uint8Array): void;
  text(): string;
}

/** Newest bytes that are kept of each stream of a command (SPEC OU2), and of a background process. */
export const keptBytes = { command: 64 * kibibyte, process: 256 * kibibyte } as const;

export interface ProcessToWatch<Kept extends KeptOutput> {
  readonly process: Process;
  /** Where it runs: whatever listens to the sandbox's output receives its output too. */
  readonly sandbox: Pick<Sandbox, "output">;
  /** Removes secrets from its output before anything else sees it. */
  readonly redaction: Redaction;
  /** Makes what keeps one of its streams. */
  readonly keep: () => Kept;
  /** Written to its standard input, which is closed after it or at its end; left out: nothing is written or closed. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Awaited before more output is read, so that a slow listener slows down the process and does not fill memory. */
  readonly onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
}

/** How long a process may run, and how it is ended. */
export interface RunLimits extends Omit<EndLimits, "streams"> {
  /** How long the next output of an ended process may still take to arrive, while no listener holds it up. */
  readonly drainMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** What is known about a process that has ended. */
export interface ProcessEnd<Kept extends KeptOutput> extends FirstCause {
  readonly stdout: Kept;
  readonly stderr: Kept;
  readonly durationMs: number;
}

export interface WatchedProcess<Kept extends KeptOutput> {
  readonly stdout: Kept;
  readonly stderr: Kept;
  /** Resolves when both streams have ended; rejects with what broke them off, or with what the listener threw. */
  readonly outputEnded: Promise<void>;
  /**
   * Waits for its end: by itself, by its time limit, by its caller, or by the loss of its sandbox.
   * @throws what broke its streams off
   */
  untilEnd(limits: RunLimits): Promise<ProcessEnd<Kept>>;
}

/** Reads what a process writes as fast as its listener takes it, and keeps a part of each stream. */
export function watchProcess<Kept extends KeptOutput>(watch: ProcessToWatch<Kept>): WatchedProcess<Kept> {
  const { process, input } = watch;
  const kept = { stdout: watch.keep(), stderr: watch.keep() };
  const reading = { isHeldUp: false };
  const outputEnded = readOutput(watch, kept, reading);
  // Whether it reads all of its input is up to the program.
  const inputEnded = input === undefined ? [] : [feedStream(process.stdin, input, process.exit)];
  const untilEnd = async (limits: RunLimits): Promise<ProcessEnd<Kept>> => {
    const { drainMs, signal, monotonicMs } = limits;
    const startedMs = monotonicMs();
    const end = await untilEnded(process, { ...limits, streams: [outputEnded, ...inputEnded] });
    const durationMs = Math.round(monotonicMs() - startedMs);
    while (!(await settlesWithin(outputEnded, drainMs)) && reading.isHeldUp && signal?.aborted !== true);
    return { ...end, ...kept, durationMs };
  };
  return { ...kept, outputEnded, untilEnd };
}

/** How long the beginning of a line waits for its end. */
const holdMs = 50;
/** Bytes of a line that wait; more go on without its end. */
const maxHeldBytes = 8 * kibibyte;
const newline = 0x0a;

/** The beginning of a line. */
interface Held {
  readonly stream: OutputChunk["stream"];
  readonly pieces: Uint8Array[];
  bytes: number;
  /** Resolves to false when it has waited long enough. */
  readonly late: Promise<false>;
  readonly timer: NodeJS.Timeout;
}

/**
 * A process's output in whole lines, and the beginning of a line when its end has not come within 50 ms: a program that
 * writes character by character makes no event of each. Both streams keep their order, and nothing waits at the end.
 * Whoever gives it up does not wait for output that is still to come.
 */
export async function* gatheredOutput(
  output: AsyncIterable<OutputChunk>,
): AsyncGenerator<OutputChunk, void, undefined> {
  const chunks = output[Symbol.asyncIterator]();
  let held: Held | null = null;
  let isOver = false;
  let next = nextOf(chunks);
  try {
    for (;;) {
      if (held !== null && !(await comesInTime(next, held))) {
        yield chunkOf(held);
        held = null;
      }
      const read = await next.catch((error: unknown) => ({ error }));
      if ("error" in read || read.done === true) {
        isOver = true;
        if (held !== null) yield chunkOf(held);
        if ("error" in read) throw read.error;
        return;
      }
      const { stream, bytes } = read.value;
      if (held !== null && held.stream !== stream) {
        yield chunkOf(held);
        held = null;
      }
      const lineEnd = bytes.lastIndexOf(newline) + 1;
      if (lineEnd > 0) {
        const whole = bytes.subarray(0, lineEnd);
        if (held === null) yield { stream, bytes: whole };
        else yield chunkOf(add(held, whole));
        held = null;
      }
      if (lineEnd < bytes.length) {
        held = add(held ?? begin(stream), bytes.subarray(lineEnd));
        if (held.bytes >= maxHeldBytes) {
          yield chunkOf(held);
          held = null;
        }
      }
      next = nextOf(chunks);
    }
  } finally {
    clearTimeout(held?.timer);
    // It may wait for output that does not come.
    if (!isOver) chunks.return?.().catch(() => undefined);
  }
}

function nextOf(chunks: AsyncIterator<OutputChunk, unknown>): Promise<IteratorResult<OutputChunk, unknown>> {
  const next = chunks.next();
  next.catch(() => {
    // Whoever awaits it is told, if somebody does.
  });
  return next;
}

/** True when more, or the end, comes before it has waited long enough. */
function comesInTime(next: Promise<unknown>, { late }: Held): Promise<boolean> {
  const comes = next.then(
    () => true,
    () => true,
  );
  return Promise.race([late, comes]);
}

function begin(stream: OutputChunk["stream"]): Held {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  return { stream, pieces: [], bytes: 0, late, timer: setTimeout(resolve, holdMs, false) };
}

function add(held: Held, bytes: Uint8Array): Held {
  held.pieces.push(bytes);
  held.bytes += bytes.length;
  return held;
}

function chunkOf({ stream, pieces, timer }: Held): OutputChunk {
  clearTimeout(timer);
  return { stream, bytes: Buffer.concat(pieces) };
}

/**
 * Waits for a process's end: by itself, by its time limit, by its caller, or by the loss of its sandbox. Its exit code is null when
 * its sandbox was lost, and when it could not be ended.
 * @throws what broke its streams off, but for SANDBOX_LOST
 */
async function untilEnded(
  process: Pick<Process, "exit">,
  { timeoutMs, signal, streams, end }: EndLimits,
): Promise<FirstCause> {
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  for (const stream of streams) stream.catch(breakOff);
  broken.catch(() => {
    // Also seen by the race below, unless the process's end came first.
  });
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<"timeout" | "cancel">();
  const timer = setTimeout(interrupt, timeoutMs, "timeout");
  const onAbort = (): void => interrupt("cancel");
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  let interruption: Interruption = null;
  try {
    const first = await Promise.race([process.exit, interrupted, broken]);
    if (typeof first !== "string") return { interruption, exitCode: first.exitCode };
    interruption = first;
    await end();
    // What another program has stopped may outlive that; then it ends only with its sandbox.
    const isOver = await settlesWithin(process.exit, exitMs);
    return { interruption, exitCode: isOver ? (await process.exit).exitCode : null };
  } catch (error) {
    if (!isSandboxLoss(error)) throw error;
    return { interruption: interruption ?? "lost", exitCode: null };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Keeps it as it comes. */
async function* keptOutput<Kept extends KeptOutput>(
  output: AsyncIterable<OutputChunk>,
  kept: Readonly<Record<OutputChunk["stream"], Kept>>,
): AsyncGenerator<OutputChunk, void, undefined> {
  for await (const chunk of output) {
    kept[chunk.stream].append(chunk.bytes);
    yield chunk;
  }
}

async function readOutput<Kept extends KeptOutput>(
  { process, sandbox, redaction, onOutput }: ProcessToWatch<Kept>,
  kept: Readonly<Record<OutputChunk["stream"], Kept>>,
  reading: { isHeldUp: boolean },
): Promise<void> {
  sandbox.output.redaction = redaction;
  try {
    for await (const chunk of gatheredOutput(keptOutput(redactedOutput(process.output, redaction), kept))) {
      sandbox.output.tell(chunk, process);
      reading.isHeldUp = true;
      await onOutput?.(chunk);
      reading.isHeldUp = false;
    }
  } finally {
    sandbox.output.end(process);
  }
}
