import os from "node:os";
import type { CommandIo } from "./command-io.ts";
import { runCommandLine } from "./command-line.ts";

/** Signals that ask a command to end; each makes it clean up first. */
const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Within this time a second SIGINT is an echo of the first: the terminal sends it to both, and npx passes it on. */
const echoMs = 500;
/** How long leftovers may still keep the process from exiting. */
const lingerMs = 500;

/** Runs this process's command line to its end, however it ends, and sets the exit code. */
export async function runFromProcess(): Promise<void> {
  const ending = new AbortController();
  let interruptedMs: number | undefined;
  const end = (signal: NodeJS.Signals): void => {
    const exitCode = 128 + os.constants.signals[signal];
    // A user who insists does not want to wait; the sweep at the next start removes what is left.
    if (signal === "SIGINT" && performance.now() - (interruptedMs ?? Infinity) > echoMs) process.exit(exitCode);
    if (signal === "SIGINT") interruptedMs ??= performance.now();
    ending.abort(exitCode);
  };
  for (const signal of endingSignals) process.on(signal, end);
  for (const stream of [process.stdout, process.stderr]) {
    // The reader is gone (`| head`, a closed terminal), so the run is pointless.
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
  await Promise.all([process.stdout, process.stderr].map(written));
  // So does a connection to an engine that no longer answers.
  setTimeout(() => process.exit(), lingerMs).unref();
}

/** Resolves when all that was written has been passed on, or cannot be. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
