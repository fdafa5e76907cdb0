import os from "node:os";
import type { CommandIo } from "./command-io.ts";
import { runCommandLine } from "./command-line.ts";

/** Signals that ask a command to end; each makes it clean up first. */
const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs the command line of this process to its end, whatever ends it, and sets the exit code. */
export async function runFromProcess(): Promise<void> {
  const ending = new AbortController();
  const end = (signal: NodeJS.Signals): void => ending.abort(128 + os.constants.signals[signal]);
  for (const signal of endingSignals) process.on(signal, end);
  for (const stream of [process.stdout, process.stderr]) {
    // Nobody reads any more (`| head`, a closed terminal): the run has lost its purpose.
    stream.on("error", () => end("SIGPIPE"));
  }
  const io: CommandIo = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: ending.signal,
    term: process.env["TERM"] ?? "",
  };
  process.exitCode = await runCommandLine(process.argv.slice(2), io);
  // A stdin that was read keeps the process alive until its writer closes it.
  process.stdin.destroy();
}
