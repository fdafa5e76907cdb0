import os from "node:os";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { CommanderError, Command, Help, type Option } from "commander";
import { toGloveboxError, GloveboxError } from "../errors/glovebox-error.ts";
import { inOptionWords, type TypedWords } from "./output/option-words.ts";
import { reportError } from "./output/error-report.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";
import { readPackageVersion } from "../config/host/own-package.ts";
import { commandTable, lastGroup } from "./command-table.ts";

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

/** Headings of options in a long help, in this order; all others stand first, below "Options:". */
const optionGroups: readonly (readonly [heading: string, options: readonly string[]])[] = [
  ["Where it runs:", ["--engine", "--image", "--dockerfile", "--oci-runtime", "--min-isolation"]],
  [
    "What it gets:",
    [
      "--network",
      "--packages",
      "--setup",
      "--env",
      "--secret",
      "--file",
      "--mount",
      "--trusted",
      "--include-ignored",
      "--project",
      "--read-only",
    ],
  ],
  ["Limits:", ["--timeout", "--memory", "--cpus", "--pids", "--disk"]],
  ["What comes out:", ["--artifact", "--output", "--junit", "--ctrf", "--report-file", "--open", "--json"]],
];

/** A help with fewer options is read at a glance. */
const minGrouped = 9;

/** Puts the options of a command, and of those below it, under headings where there are many. */
function groupOptions(command: Command): void {
  if (command.options.length >= minGrouped) {
    for (const option of command.options) {
      const group = optionGroups.find(([, options]) => options.includes(option.long ?? ""));
      if (group !== undefined) option.helpGroup(group[0]);
    }
  }
  for (const each of command.commands) groupOptions(each);
}

/** An option's line, without the empty list that a repeatable one begins with. */
function optionDescription(option: Option): string {
  const isEmptyList = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
  return isEmptyList ? option.description : new Help().optionDescription(option);
}

/** The end of a help: command lines to try, and what to do next. */
function examplesText(examples: readonly string[], next: string): string {
  const title = examples.length === 1 ? "Example:" : "Examples:";
  return ["", title, ...examples.map((example) => `  ${example}`), "", `Next: ${next}`].join("\n");
}

/** The end of the program's own help. */
const programHelp: string = examplesText(
  [
    "glovebox run hello.py                  # a program in a fresh sandbox",
    "glovebox run -c 'print(6 * 7)'         # without a file",
    "glovebox test                          # the tests of the project in this folder",
    "glovebox shell                         # a terminal in a sandbox",
    "glovebox mcp install claude-code       # the tools for an agent",
  ],
  "`glovebox doctor` shows what works here; `glovebox COMMAND --help` what a command takes.",
);

/** What the parser says, and how Glovebox says it: the word that was typed, then what is wrong with it. */
const forms: readonly (readonly [said: RegExp, words: (...found: readonly string[]) => string])[] = [
  [/^unknown option '(.{1,200}?)'(.{0,200})$/, (flag, similar) => `${flag}: unknown option${didYouMean(similar)}`],
  [/^unknown command '(.{1,200}?)'(.{0,200})$/, (name, similar) => `${name}: unknown command${didYouMean(similar)}`],
  [/^missing required argument '(.{1,200}?)'$/, (name) => `${name.toUpperCase()}: expected an argument, got nothing`],
  [/^required option '(.{1,200}?)' not specified$/, (flags) => `${longOf(flags)}: expected this option, got nothing`],
  [/^option '(.{1,200}?)' argument missing$/, (flags) => `${longOf(flags)}: expected a value, got nothing`],
  [
    /^option '([^']{1,200})' argument '(.{0,200}?)' is invalid\. Allowed choices are (.{1,1000}?)\.?$/,
    (flags, value, choices) => `${longOf(flags)}: expected one of ${choices}, got ${JSON.stringify(value)}`,
  ],
  [/^too many arguments[^.]{0,200}\. Expected (\d{1,4}) [^:]{0,200} but got (\d{1,6}): (.{0,1000}?)\.?$/, tooMany],
];

/** A command line that does not fit, in the form of every other error. */
function usageError({ message, code }: CommanderError, command: Command): GloveboxError {
  const said = message
    .replace(/^error: /, "")
    .replaceAll("\n", " ")
    .trim();
  const found = forms.map(([form, words]) => form.exec(said)?.slice(1) && words(...(form.exec(said)?.slice(1) ?? [])));
  const words = code === "commander.help" ? "COMMAND: expected a command, got nothing" : found.find(Boolean);
  return new GloveboxError("INVALID_REQUEST", `${words ?? said.replace(/\.$/, "")}.`, {
    suggestion: helpAdvice(command),
    context: { field: "command_line" },
  });
}

/** An error about a command's input whose advice only repeats what is wrong tells where all is listed instead. */
function withoutEcho(error: GloveboxError, command: Command | null): GloveboxError {
  const { errorType, message, suggestion, context, cause } = error;
  const echo = /^Correct [^:;]*?(?:: ([^;]*?))?\.?$/.exec(suggestion);
  if (errorType !== "INVALID_REQUEST" || command === null || echo === null) return error;
  if (echo[1] !== undefined && !message.includes(echo[1])) return error;
  return new GloveboxError(errorType, message, { suggestion: helpAdvice(command), context, cause });
}

function helpAdvice(command: Command): string {
  const words: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) words.unshift(each.name());
  const takes = command.commands.length > 0 ? "lists the commands" : "lists what it takes";
  return `\`${words.join(" ")} --help\` ${takes}.`;
}

function didYouMean(similar = ""): string {
  const named = /\(Did you mean (?:one of )?(.+?)\?\)/.exec(similar)?.[1];
  return named === undefined ? "" : ` (did you mean ${named}?)`;
}

/** `-c, --code <code>` is `--code`. */
function longOf(flags = ""): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}

function tooMany(expected = "", received = "", given = ""): string {
  const surplus = given.split(", ").slice(Number(expected)).join(" ");
  return `${surplus}: expected ${expected === "1" ? "1 argument" : `${expected} arguments`}, got ${received}`;
}
