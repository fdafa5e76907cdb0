import { CommanderError } from "commander";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import type { CommandIo } from "./command-io.ts";
import { reportError } from "./output/error-report.ts";
import { buildProgram } from "./build-program.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";

/** The command that tells of all the others. */
const whole = "completion";

/** Runs one command line and resolves to its exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  let json = false;
  const chosen = chosenCommand(argv);
  const program = await buildProgram(
    (name) => name === chosen || chosen === whole,
    io,
    (code) => (exitCode = code),
  );
  // The command's own option: what stands behind a program's name or `--` may look the same.
  program.hook("preAction", (_, command) => void (json = command.optsWithGlobals()["json"] === true));
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    if (typeof io.signal.reason === "number") return io.signal.reason;
    const known = toGloveboxError(error);
    reportError(known, { io, json });
    return exitCodeOfError(known);
  }
  return exitCode;
}

/** The command that a command line names; `help NAME` shows the options of that one. */
function chosenCommand(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith("-"));
  return words[0] === "help" ? words[1] : words[0];
}
