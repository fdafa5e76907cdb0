import { CommanderError, type Command } from "commander";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import type { CommandIo } from "./command-io.ts";
import { inOptionWords, type TypedWords } from "./output/option-words.ts";
import { reportError } from "./output/error-report.ts";
import { buildProgram } from "./build-program.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";
import { usageError, withoutEcho } from "./usage-errors.ts";

/** The command that describes all the others. */
const whole = "completion";

/** Runs one command line and resolves to its exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const asksForJson = namesJson(argv);
  let json = asksForJson;
  let typed: TypedWords | null = null;
  let ran: Command | null = null;
  const chosen = chosenCommand(argv);
  const program = await buildProgram(
    (name) => name === chosen || chosen === whole,
    io,
    (code) => (exitCode = code),
    asksForJson,
  );
  // The command's own option: words after a program's name or `--` may look the same.
  program.hook("preAction", (_, command) => {
    json = command.optsWithGlobals()["json"] === true;
    typed = typedWords(command);
    ran = command;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without a command the parser shows the help, which is answer enough for a person.
      const isHelp = error.code === "commander.help";
      if (!isHelp || asksForJson) {
        reportError(usageError(error, namedCommand(program, argv)), { io, json: asksForJson });
      }
      return exitCodes.usage;
    }
    if (typeof io.signal.reason === "number") return io.signal.reason;
    const known = withoutEcho(inOptionWords(toGloveboxError(error), typed), ran);
    reportError(known, { io, json });
    return exitCodeOfError(known);
  }
  return exitCode;
}

/** Whether `--json` is among Glovebox's own words, as far as that can be determined for an invalid line. */
function namesJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? argv.length : end).includes("--json");
}

/** The command that the words of a line lead to. */
function namedCommand(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (const word of argv) {
    if (word === "--") break;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined && !word.startsWith("-")) break;
    command = next ?? command;
  }
  return command;
}

/** Options of the command and of those above it. */
function typedWords(command: Command): TypedWords {
  const lines = [command, command.parent].filter((each) => each !== null);
  return new Set([
    ...lines.flatMap(({ options }) => options.flatMap(({ long }) => long ?? [])),
    ...command.registeredArguments.map((argument) => argument.name().toUpperCase()),
  ]);
}

/** The command that a command line names; `help NAME` shows the options of that one. */
function chosenCommand(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith("-"));
  return words[0] === "help" ? words[1] : words[0];
}
