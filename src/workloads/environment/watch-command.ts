import { feedStream } from "../../base/streams/chunks.ts";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { Process } from "../../engines/engine.ts";
import { keptBytes, watchProcess, type ProcessEnd, type ProcessToWatch, type RunLimits } from "../run/watch-process.ts";

export type CommandWatch = Omit<ProcessToWatch<RingOutput>, "keep" | "input"> &
  Omit<RunLimits, "drainMs" | "end"> & {
    /** Its standard input; missing: empty. */
    readonly stdin?: AsyncIterable<Uint8Array> | undefined;
    /** Newest bytes of each stream that are kept; default 64 KiB. */
    readonly keptBytes?: number | undefined;
    /** Ends the command and everything it started. */
    readonly end: (process: Process) => Promise<void>;
  };

/**
 * How long to wait for further output of a command that has ended: processes it left behind may keep its streams open.
 */
const drainMs = 1_000;

/** Watches a command to its end. @throws what broke its streams */
export async function watchCommand(watch: CommandWatch): Promise<ProcessEnd<RingOutput>> {
  const { process, stdin } = watch;
  if (stdin === undefined) process.stdin.end();
  // A source that fails ends the input; the command continues.
  else feedStream(process.stdin, stdin, process.exit).catch(() => process.stdin.end());
  const watched = watchProcess({ ...watch, keep: () => new RingOutput(watch.keptBytes ?? keptBytes.command) });
  return watched.untilEnd({ ...watch, drainMs, end: () => watch.end(process) });
}
