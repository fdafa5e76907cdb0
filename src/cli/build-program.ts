import { Command } from "commander";
import { readPackageVersion } from "../config/host/package-version.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { commandTable, lastGroup } from "./command-table.ts";
import { examplesText, groupOptions, optionDescription, programHelp } from "./help.ts";

/** The command line's parser: commands in `wanted` with all their options, the others with just their names. */
export async function buildProgram(
  wanted: (name: string) => boolean,
  io: CommandIo,
  setExitCode: SetExitCode,
  /** If true, stderr gets no help for a line without a command: the caller reports that. */
  isQuiet = false,
): Promise<Command> {
  const program = new Command("glovebox")
    .description("Runs untrusted code in sealed sandboxes.")
    .version(readPackageVersion(), "-V, --version", "show the version")
    .exitOverride()
    // So that everything after the name of a program belongs to the program.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void (isQuiet || io.stderr.write(text)),
      // Whoever parses reports it, in the form of all errors.
      outputError: () => undefined,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .commandsGroup(lastGroup)
    .helpOption("-h, --help", "show this help")
    .configureHelp({ optionDescription });
  for (const { name, description, group, examples, next, load } of commandTable) {
    if (wanted(name)) (await load())(program, io, setExitCode);
    const command = program.commands.find((each) => each.name() === name) ?? program.command(name);
    command.description(description).helpGroup(group).addHelpText("after", examplesText(examples, next));
    groupOptions(command);
  }
  program.helpCommand("help [command]", "show the help of a command").addHelpText("after", programHelp);
  return program;
}
