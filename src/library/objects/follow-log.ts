import { GloveboxError } from "../../errors/glovebox-error.ts";
import { readLogsContract } from "../../operations/logs-contract.ts";
import type { CallSignal } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { ReadLogsOptions } from "./generated/options.ts";
import type { LogEntry } from "./generated/results.ts";
import { pause } from "./pause.ts";

/** A part of a log. */
interface LogPart<Entry> {
  readonly entries: readonly Entry[];
  /** Offset at which the next part begins. */
  readonly nextOffset: number;
  /** Whether this is the end. */
  readonly isOver: boolean;
}

/** Which part of a log to read, and for how long. */
export interface FollowLogOptions {
  /** Offset of the first entry; default 0. */
  readonly from?: number | undefined;
  /** Continue as the log grows, until it ends; default: read what is there now. */
  readonly follow?: boolean | undefined;
  /** Ends reading, which then throws CANCELLED. */
  readonly signal?: CallSignal | undefined;
}

/** Which entries of a sandbox's log to read. */
export interface LogOptions extends FollowLogOptions {
  /** Only this stream's; default: all. */
  readonly stream?: ReadLogsOptions["stream"];
}

/** How long one request waits for new entries, in seconds. */
const waitSeconds = 20;
/**
 * Delays after which an unreachable server is retried; it is given up after this many failures in a row: about a
 * minute.
 */
const retries = { firstMs: 250, longestMs: 5_000, max: 15 } as const;

/**
 * The entries of a log from an offset on, each once and in order; after a broken connection, reading continues after
 * the last one. A slow reader slows nothing down; what it missed is reported as one entry with `dropped`.
 * @throws what `read` throws; NETWORK_ERROR and CAPACITY only if they persist
 */
export async function* followLog<Entry>(
  read: (offset: number, waitSeconds: number) => Promise<LogPart<Entry>>,
  { from = 0, follow = false, signal }: FollowLogOptions,
): AsyncGenerator<Entry, undefined> {
  let offset = from;
  let failures = 0;
  for (;;) {
    let part: LogPart<Entry>;
    try {
      part = await read(offset, follow ? waitSeconds : 0);
      failures = 0;
    } catch (error) {
      if (!isPassing(error) || failures >= retries.max) throw error;
      await pause(Math.min(retries.firstMs * 2 ** failures, retries.longestMs), signal);
      failures += 1;
      continue;
    }
    yield* part.entries;
    const isNews = part.nextOffset > offset;
    offset = part.nextOffset;
    if (part.isOver || (!isNews && !follow)) return;
  }
}

/**
 * The log of a sandbox, or of an environment's current one.
 * @internal
 */
export function followSandboxLog(
  calls: Pick<Calls, "send">,
  sandboxId: string,
  { stream, ...options }: LogOptions,
): AsyncGenerator<LogEntry, undefined> {
  let id = sandboxId;
  return followLog<LogEntry>(async (offset, waitSeconds) => {
    const request = { id, stream, offset, waitSeconds };
    const { containerId, ...part } = await calls.send(readLogsContract, request, { signal: options.signal });
    // An environment's next sandbox has a log of its own.
    id = containerId;
    return part;
  }, options);
}

function isPassing(error: unknown): boolean {
  return error instanceof GloveboxError && (error.errorType === "NETWORK_ERROR" || error.errorType === "CAPACITY");
}
