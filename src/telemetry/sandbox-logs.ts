import { kibibyte, mebibyte } from "../base/bytes.ts";
import { Kept } from "../base/kept.ts";
import type { OutputChunk } from "../engines/engine.ts";
import type { SandboxObserver, ObservedSandbox } from "../sandbox/sandbox-observer.ts";
import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { Alert } from "./alert-book.ts";
import type { LogBlock, LogSource, LogStream } from "./log-entry.ts";
import { LogRing } from "./log-ring.ts";
import type { LogSink } from "./log-sink.ts";
import { trailingPart } from "../base/streams/utf8.ts";
import type { Kit } from "../base/kit.ts";

/** Lines that were read at once. */
export interface SplitLines {
  /** With a line feed between two. */
  readonly text: string;
  readonly count: number;
  /** It is part of a line that continues in the next call. */
  readonly partial: boolean;
}

/** Most bytes of one entry: a longer line is cut into several (SPEC LG1). */
const maxLineBytes: number = 16 * kibibyte;

/** Most of what is given out at once. */
const together = { bytes: 64 * kibibyte, lines: 1_000 } as const;

const lineFeed = 0x0a;

/** Cuts the bytes of one stream into lines, never in the middle of a character, and holds no more than one line's part. */
export class LineSplitter {
  readonly #onLines: (lines: SplitLines) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onLines: (lines: SplitLines) => void) {
    this.#onLines = onLines;
  }

  write(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const given = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    // Lines from `begin` to `start` wait to be given out together.
    let [begin, start, count] = [0, 0, 0];
    for (;;) {
      const found = given.indexOf(lineFeed, start);
      const end = found < 0 ? given.length : found;
      const isTooMuch = end - begin > together.bytes || count === together.lines || end - start > maxLineBytes;
      if (found < 0 || isTooMuch) {
        if (count > 0) this.#give(given.subarray(begin, start - 1), count);
        start = this.#cut(given, start, end);
        [begin, count] = [start, 0];
      }
      if (found < 0) break;
      start = end + 1;
      count += 1;
    }
    // A copy: the chunk is the engine's.
    this.#rest = Buffer.from(given.subarray(start));
  }

  /** Takes bytes without giving out their lines; to how many lines ended in them. */
  skip(bytes: Uint8Array): number {
    const last = bytes.lastIndexOf(lineFeed);
    let count = 0;
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
    if (last >= 0) this.#rest = Buffer.alloc(0);
    this.write(bytes.subarray(last + 1));
    return count;
  }

  /** The stream has ended: what has no line end is a line too. */
  end(): void {
    if (this.#rest.length > 0) this.#onLines({ text: textOf(this.#rest), count: 1, partial: false });
    this.#rest = Buffer.alloc(0);
  }

  /** Gives out the parts of a line that is too long, as far as more of it follows; to where its last part begins. */
  #cut(given: Buffer, from: number, end: number): number {
    let start = from;
    while (end - start > maxLineBytes) {
      const part = given.subarray(start, start + maxLineBytes);
      const length = part.length - trailingPart(part);
      this.#onLines({ text: textOf(part.subarray(0, length)), count: 1, partial: true });
      start += length;
    }
    return start;
  }

  /** Gives out whole lines; the end of the last is not among the bytes. */
  #give(lines: Buffer, count: number): void {
    const text = textOf(lines).replaceAll("\r\n", "\n");
    this.#onLines({ text: text.endsWith("\r") ? text.slice(0, -1) : text, count, partial: false });
  }
}

function textOf(bytes: Buffer): string {
  // A database's text holds no NUL.
  return bytes.toString("utf8").replaceAll("\0", "\u2400");
}

/** A rate limit: a burst, and what is regained over time. */
class Allowance {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #monotonicMs: () => number;
  #left: number;
  #countedMs: number;

  constructor(pace: { readonly burst: number; readonly perSecond: number }, monotonicMs: () => number) {
    this.#burst = pace.burst;
    this.#perMs = pace.perSecond / 1_000;
    this.#monotonicMs = monotonicMs;
    this.#left = pace.burst;
    this.#countedMs = monotonicMs();
  }

  isLeft(): boolean {
    const nowMs = this.#monotonicMs();
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#countedMs) * this.#perMs);
    this.#countedMs = nowMs;
    return this.#left > 0;
  }

  /** Uses so much of it, which may be more than is left. */
  use(count: number): void {
    this.#left -= count;
  }
}

export interface SandboxLogsOptions extends Pick<Kit, "now" | "monotonicMs"> {
  /** Further places that every entry goes to. */
  readonly sinks: readonly LogSink[];
}

/**
 * What is held of a living sandbox's newest entries, and of all sandboxes that have ended, together: beyond it whoever holds
 * most loses the oldest.
 */
const held = { livingBytes: mebibyte, endedBytes: 8 * mebibyte, ended: 1_000 } as const;

/** A ring that takes next to nothing counts for this much. */
const minRingBytes = 4 * kibibyte;

/** Lines of one sandbox that become entries: so many at once, so many a second on the long run; what is beyond is counted. */
const pace = { burst: 2_000_000, perSecond: 100_000 } as const;

interface Log {
  readonly ring: LogRing;
  readonly allowance: Allowance;
  /** One for each stream of each program that writes now. */
  readonly splitters: Map<object, Readonly<Record<OutputChunk["stream"], LineSplitter>>>;
}

/** The log of every sandbox of this process: one entry a line, for readers and sinks that never slow a program. */
export class SandboxLogs implements SandboxObserver {
  readonly #options: SandboxLogsOptions;
  readonly #living = new Map<string, Log>();
  readonly #ended = new Kept<LogRing>({ max: held.ended, maxSize: held.endedBytes });
  #tooFast = 0;

  constructor(options: SandboxLogsOptions) {
    this.#options = options;
  }

  /** Lines that came too fast to become entries. */
  get tooFast(): number {
    return this.#tooFast;
  }

  /** The newest entries of a sandbox that lives or has ended not long ago. */
  find(sandbox: string): LogRing | undefined {
    return this.#living.get(sandbox)?.ring ?? this.#ended.get(sandbox);
  }

  sandboxOpened({ sandbox, kind, principal, engine }: ObservedSandbox): void {
    const source: LogSource = { sandbox: sandbox.id, principal };
    const ring = new LogRing(source, { maxBytes: held.livingBytes, now: this.#options.now });
    const log: Log = { ring, allowance: new Allowance(pace, this.#options.monotonicMs), splitters: new Map() };
    this.#living.set(sandbox.id, log);
    this.#system(ring, `sandbox ${sandbox.id} created (${kind}, engine ${engine})`);
    sandbox.output.listen(
      (chunk, program) => this.#write(log, chunk, program),
      (program) => this.#endProgram(log, program),
    );
  }

  sandboxRemoved(id: string): void {
    const log = this.#living.get(id);
    if (log === undefined) return;
    for (const program of log.splitters.keys()) this.#endProgram(log, program);
    this.#system(log.ring, `sandbox ${id} removed`);
    this.#living.delete(id);
    this.#ended.set(id, log.ring, { share: log.ring.source.principal, size: Math.max(log.ring.bytes, minRingBytes) });
    log.ring.end();
    for (const sink of this.#options.sinks) sink.end(log.ring.source);
  }

  runStarted({ id, sandbox, kind }: StartedRun): void {
    const log = this.#living.get(sandbox);
    if (log === undefined) return;
    for (const sink of this.#options.sinks) sink.beginRun(log.ring.source);
    this.#system(log.ring, `run ${id} started (${kind})`);
  }

  runEnded({ id, sandbox }: StartedRun, { outcome, exitCode, durationMs, errorType }: RunEnding): void {
    const ring = this.#living.get(sandbox)?.ring;
    if (ring === undefined) return;
    const facts = [
      exitCode === null ? [] : `exit code ${exitCode}`,
      durationMs === null ? [] : `${durationMs} ms`,
      errorType ?? [],
    ].flat();
    this.#system(ring, `run ${id} ended: ${[outcome, ...facts].join(", ")}`);
  }

  /** An alert is an entry of its sandbox's log, too (SPEC ME2). */
  alertTold(alert: Alert): void {
    const ring = this.#living.get(alert.container_id)?.ring;
    if (ring !== undefined) this.#system(ring, alert.message, alert);
  }

  #write({ ring, allowance, splitters }: Log, { stream, bytes }: OutputChunk, program: object): void {
    let pair = splitters.get(program);
    if (pair === undefined) {
      const splitter = (stream: LogStream): LineSplitter =>
        new LineSplitter((lines) => {
          allowance.use(lines.count);
          this.#add(ring, { stream, ...lines, dropped: 0 });
        });
      pair = { stdout: splitter("stdout"), stderr: splitter("stderr") };
      splitters.set(program, pair);
    }
    if (allowance.isLeft()) {
      pair[stream].write(bytes);
      return;
    }
    const count = pair[stream].skip(bytes);
    this.#tooFast += count;
    const text = `${count} lines came too fast and are missing here`;
    if (count > 0) this.#add(ring, { stream, text, count: 1, partial: false, dropped: count });
  }

  #endProgram({ splitters }: Log, program: object): void {
    const pair = splitters.get(program);
    splitters.delete(program);
    pair?.stdout.end();
    pair?.stderr.end();
  }

  #system(ring: LogRing, text: string, alert?: Alert): void {
    this.#add(ring, { stream: "system", text, count: 1, partial: false, dropped: 0, alert });
  }

  #add(ring: LogRing, part: Omit<LogBlock, "source" | "offset" | "stampMs">): void {
    // What a sandbox that was ended by force still had to say.
    if (ring.hasEnded) return;
    const block = ring.push({ stampMs: this.#options.now(), ...part });
    for (const sink of this.#options.sinks) sink.offer(block);
  }
}
