import { CommanderError, type Command } from "commander";
import { GloveboxError, toGloveboxError } from "../errors/glovebox-error.ts";
import type { CommandIo } from "./command-io.ts";
import { inOptionWords, type TypedWords } from "./output/option-words.ts";
import { reportError } from "./output/error-report.ts";
import { buildProgram } from "./build-program.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";

/** The command that describes all the others. */
const whole = "completion";

/** Runs one command line and resolves to its exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const asksForJson = namesJson(argv);
  let json = asksForJson;
  let typed: TypedWords | null = null;
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
  });
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      if (asksForJson) reportError(wrongUsage(error), { io, json: true });
      return exitCodes.usage;
    }
    if (typeof io.signal.reason === "number") return io.signal.reason;
    const known = inOptionWords(toGloveboxError(error), typed);
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

/** What the parser found wrong, as an error for programs to read. */
function wrongUsage({ message }: CommanderError): GloveboxError {
  const [what = "", ...more] = message.replace(/^error: /, "").split("\n");
  return new GloveboxError("INVALID_REQUEST", [what, ...more].join(" ").trim(), {
    suggestion: "Correct the command line; glovebox COMMAND --help lists what a command takes.",
    context: { field: "command_line" },
  });
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
