import { Command } from "commander";
import { readPackageVersion } from "../config/host/package-version.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { commandTable } from "./command-table.ts";

/** The command line's parser: of the commands that are `wanted` with all that they take, of the others with their names alone. */
export async function buildProgram(
  wanted: (name: string) => boolean,
  io: CommandIo,
  setExitCode: SetExitCode,
  /** Whether nothing is printed of a line that is wrong: its caller tells of it. */
  isQuiet = false,
): Promise<Command> {
  const program = new Command("glovebox")
    .description("Runs untrusted code in sealed sandboxes.")
    .version(readPackageVersion(), "-V, --version")
    .exitOverride()
    // So that what stands behind the name of a program is the program's.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void (isQuiet || io.stderr.write(text)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(glovebox --help lists the commands, glovebox COMMAND --help their options)");
  for (const { name, description, load } of commandTable) {
    if (wanted(name)) (await load())(program, io, setExitCode);
    const command = program.commands.find((each) => each.name() === name) ?? program.command(name);
    command.description(description);
  }
  return program;
}
