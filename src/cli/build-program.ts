import { Command } from "commander";
import { readPackageVersion } from "../config/host/package-version.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { commandTable } from "./command-table.ts";

/** The command line's parser: commands in `wanted` with all their options, the others with just their names. */
export async function buildProgram(
  wanted: (name: string) => boolean,
  io: CommandIo,
  setExitCode: SetExitCode,
  /** If true, nothing is printed for an invalid command line: the caller reports it. */
  isQuiet = false,
): Promise<Command> {
  const program = new Command("glovebox")
    .description("Runs untrusted code in sealed sandboxes.")
    .version(readPackageVersion(), "-V, --version")
    .exitOverride()
    // So that everything after the name of a program belongs to the program.
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
