import { Command, CommanderError } from "commander";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import { readPackageVersion } from "../config/host/package-version.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { reportError } from "./output/error-report.ts";
import { commandTable } from "./command-table.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";

/** Runs one command line and resolves to its exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  let json = false;
  const program = await buildProgram(chosenCommand(argv), io, (code) => (exitCode = code));
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

async function buildProgram(chosen: string | undefined, io: CommandIo, setExitCode: SetExitCode): Promise<Command> {
  const program = new Command("glovebox")
    .description("Runs code that nobody trusts yet in sealed sandboxes.")
    .version(readPackageVersion(), "-V, --version")
    .exitOverride()
    // So that what stands behind the name of a program is the program's.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(glovebox --help lists the commands, glovebox COMMAND --help their options)");
  for (const { name, description, load } of commandTable) {
    if (name === chosen) (await load())(program, io, setExitCode);
    const command = program.commands.find((each) => each.name() === name) ?? program.command(name);
    command.description(description);
  }
  return program;
}
