import { findCommand, findGroup, type Command, type OptionRow } from "./command-table.ts";
import { ParsedOptions } from "./parsed-options.ts";
import { faultOfValue } from "./read-value.ts";
import { nearest } from "./suggestion.ts";
import { InvalidOption, tokenise, type Token } from "./tokenise.ts";
import { rootUsage, usageOf } from "./usage.ts";
import { UsageError } from "./usage-error.ts";

/** What a call asks for. */
export type Call =
  | { readonly kind: "run"; readonly command: string; readonly options: ParsedOptions }
  | { readonly kind: "help"; readonly usage: string }
  | { readonly kind: "version" }
  | { readonly kind: "plugin"; readonly name: string };

const isHelp = (token: Token | undefined): boolean =>
  (token?.kind === "long" && token.name === "--help") || (token?.kind === "short" && token.letters === "h");

function tokensOf(words: readonly string[]): readonly Token[] {
  try {
    return tokenise(words);
  } catch (error) {
    if (error instanceof InvalidOption) throw new UsageError(error.message, { usage: rootUsage, command: "" });
    throw error;
  }
}

/**
 * Reads the arguments after `container`, as the version does.
 * @throws UsageError
 */
export function parseCall(version: string, words: readonly string[]): Call {
  const tokens = tokensOf(words);
  let group = "";
  for (const [index, token] of tokens.entries()) {
    const usage = group === "" ? rootUsage : `${group} <subcommand>`;
    const refuse = (message: string): UsageError => new UsageError(message, { usage, command: group });
    if (isHelp(token)) return { kind: "help", usage };
    if (token.kind === "long" && token.name === "--debug") continue;
    if (token.kind === "long" && token.name === "--version" && group === "") return { kind: "version" };
    if (token.kind === "long") throw refuse(`Unknown option '${token.name}'`);
    if (token.kind === "short") throw refuse(`Unknown option '-${token.letters}'`);
    if (token.kind === "terminator") continue;
    if (token.word === "help" && group === "") return { kind: "help", usage };
    const command = findCommand(version, [...group.split(" ").filter(Boolean), token.word]);
    if (command !== undefined) return new CommandCall(version, command, words, index + 1, tokens).parse();
    const inner = findGroup(version, group, token.word);
    if (inner === undefined && group === "") return { kind: "plugin", name: token.word };
    if (inner === undefined) throw refuse(`Unexpected argument '${token.word}'`);
    group = inner;
  }
  return { kind: "help", usage: group === "" ? rootUsage : `${group} <subcommand>` };
}

/** The arguments of one call after the words of the command. */
class CommandCall {
  readonly #version: string;
  readonly #command: Command;
  readonly #words: readonly string[];
  readonly #tokens: readonly Token[];
  readonly #values = new Map<string, string[]>();
  readonly #flags = new Set<string>();
  readonly #positional: string[] = [];
  #at: number;

  constructor(version: string, command: Command, words: readonly string[], at: number, tokens: readonly Token[]) {
    this.#version = version;
    this.#command = command;
    this.#words = words;
    this.#tokens = tokens;
    this.#at = at;
  }

  parse(): Call {
    const passesThrough = this.#command.arguments.some(({ kind }) => kind === "passthrough");
    while (this.#at < this.#tokens.length) {
      const token = this.#tokens[this.#at];
      this.#at += 1;
      if (token === undefined || token.kind === "terminator") continue;
      if (isHelp(token)) return { kind: "help", usage: usageOf(this.#command) };
      if (token.kind === "long") this.#option(token.name, token.joined);
      else if (token.kind === "short") this.#pack(token.letters, token.joined);
      else {
        this.#positional.push(token.word);
        if (passesThrough) break;
      }
    }
    if (passesThrough) this.#positional.push(...this.#words.slice(this.#at));
    this.#checkPositional();
    const options = new ParsedOptions(this.#flags, this.#values, this.#positional);
    return { kind: "run", command: this.#command.name, options };
  }

  /** `-it`, `-e A=b`, `-ite A=b`: only the last letter of a group may take a value. */
  #pack(letters: string, joined: string | undefined): void {
    const known = letters.split("").every((letter) => this.#find(`-${letter}`) !== undefined);
    if (!known && this.#find(`-${letters[0] ?? ""}`)?.value === undefined) throw this.#unknown(`-${letters}`);
    for (const [index, letter] of letters.split("").entries()) {
      const isLast = index === letters.length - 1;
      const option = this.#find(`-${letter}`);
      if (option?.value !== undefined && !isLast)
        throw this.#refuse(`Missing value for '-${letter} <${option.value}>'`);
      this.#option(`-${letter}`, isLast ? joined : undefined);
    }
  }

  #option(spelt: string, joined: string | undefined): void {
    const option = this.#find(spelt);
    if (option === undefined) throw this.#unknown(spelt);
    const key = keyOf(option);
    if (option.value === undefined) {
      if (joined !== undefined) {
        throw this.#refuse(`The option '${spelt}' does not take any value, but '${joined}' was specified.`);
      }
      this.#flags.add(key);
      return;
    }
    const value = joined ?? this.#nextValue(spelt, option.value);
    const fault = faultOfValue(this.#version, option, spelt, value);
    if (fault !== undefined) throw this.#refuse(fault, `${option.names.join(", ")} <${option.value}>`);
    this.#values.set(key, option.repeat === true ? [...(this.#values.get(key) ?? []), value] : [value]);
  }

  /** The word after an option, unless it looks like an option itself. */
  #nextValue(spelt: string, name: string): string {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "value") throw this.#refuse(`Missing value for '${spelt} <${name}>'`);
    this.#at += 1;
    return token.word;
  }

  #checkPositional(): void {
    const rows = this.#command.arguments;
    for (const [index, { name, kind }] of rows.entries()) {
      const isThere = this.#positional.length > index;
      if (kind === "one" && !isThere) throw this.#refuse(`Missing expected argument '<${name}>'`);
      if (kind === "some" && !isThere) throw this.#refuse(`Missing expected argument '<${name}> ...'`);
    }
    if (rows.some(({ kind }) => kind === "many" || kind === "some" || kind === "passthrough")) return;
    const extra = this.#positional.slice(rows.length).map((word) => `'${word}'`);
    if (extra.length === 1) throw this.#refuse(`Unexpected argument ${extra[0]}`);
    if (extra.length > 1) throw this.#refuse(`${extra.length} unexpected arguments: ${extra.join(", ")}`);
  }

  #find(name: string): OptionRow | undefined {
    return this.#command.options.find((option) => option.names.includes(name));
  }

  #unknown(spelt: string): UsageError {
    const near = nearest(spelt, [...this.#command.options.flatMap(({ names }) => names), "--help", "--version"]);
    const hint = near === undefined || !spelt.startsWith("--") ? "" : `. Did you mean '${near}'?`;
    return this.#refuse(`Unknown option '${spelt}'${hint}`);
  }

  #refuse(message: string, help?: string): UsageError {
    return new UsageError(message, { usage: usageOf(this.#command), command: this.#command.name, help });
  }
}

/** The name by which a command looks up an option: its first long one, without dashes. */
function keyOf(option: OptionRow): string {
  return (option.names.find((name) => name.startsWith("--")) ?? option.names[0] ?? "").replace(/^-+/, "");
}
