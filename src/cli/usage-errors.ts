import type { Command, CommanderError } from "commander";
import { GloveboxError } from "../errors/glovebox-error.ts";

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
export function usageError({ message, code }: CommanderError, command: Command): GloveboxError {
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
export function withoutEcho(error: GloveboxError, command: Command | null): GloveboxError {
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
