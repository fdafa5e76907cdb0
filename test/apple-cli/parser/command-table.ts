import table from "../commands.json" with { type: "json" };
import { existsIn, type Lifetime } from "./version.ts";

/** How an option's value is checked while parsing; everything else is checked by the command. */
export type ValueRule = "int" | "int32" | "int64" | "uint32" | "double";

/** One option in the table; an option without `value` is a flag. */
export interface OptionRow extends Lifetime {
  readonly names: readonly string[];
  readonly value?: string;
  readonly repeat?: boolean;
  readonly rule?: ValueRule;
  readonly choice?: string;
}

/** A positional argument. */
export interface ArgumentRow {
  readonly name: string;
  readonly kind: "one" | "optional" | "many" | "some" | "passthrough";
}

/** A command of one version, with everything that a call may contain. */
export interface Command {
  /** Words without aliases, such as `image list`. */
  readonly name: string;
  readonly options: readonly OptionRow[];
  readonly arguments: readonly ArgumentRow[];
}

interface CommandRow extends Lifetime {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly uses: readonly string[];
  readonly options?: readonly OptionRow[];
  readonly arguments: readonly string[];
}

const commandRows: readonly CommandRow[] = table.commands as readonly CommandRow[];
const groupRows: readonly (Lifetime & { name: string; names: readonly string[] })[] = table.groups;
const optionRows = table.options as Readonly<Record<string, readonly OptionRow[]>>;
const choiceRows = table.choices as Readonly<Record<string, readonly (Lifetime & { values: readonly string[] })[]>>;

const kindOf: Readonly<Record<string, ArgumentRow["kind"]>> = {
  "": "one",
  "?": "optional",
  "..": "many",
  "..required": "some",
  "..passthrough": "passthrough",
};

function readArgument(text: string): ArgumentRow {
  const [, name = "", ending = ""] = /^(.*?)(\?|\.\..*)?$/.exec(text) ?? [];
  const kind = kindOf[ending];
  if (kind === undefined) throw new Error(`commands.json: no kind of argument is called "${ending}"`);
  return { name, kind };
}

/** The command with these words in a version, or undefined. */
export function findCommand(version: string, words: readonly string[]): Command | undefined {
  const last = words.at(-1) ?? "";
  const group = words.slice(0, -1).join(" ");
  const row = commandRows.find((each) => {
    const [own = "", ...before] = each.name.split(" ").toReversed();
    const isNamed = own === last || (each.aliases ?? []).includes(last);
    return isNamed && before.toReversed().join(" ") === group && existsIn(version, each);
  });
  if (row === undefined) return undefined;
  const options = [
    ...row.uses.flatMap((use) => optionRows[use] ?? []),
    ...(row.options ?? []),
    ...(optionRows["debug"] ?? []),
  ];
  return {
    name: row.name,
    options: options.filter((option) => existsIn(version, option)),
    arguments: row.arguments.map(readArgument),
  };
}

/** Full name of the group that a word opens below another group (`""`: the top level), or undefined. */
export function findGroup(version: string, above: string, word: string): string | undefined {
  return groupRows.find((group) => {
    const parent = group.name.includes(" ") ? group.name.slice(0, group.name.lastIndexOf(" ")) : "";
    return parent === above && group.names.includes(word) && existsIn(version, group);
  })?.name;
}

/** The values of a choice in a version. */
export function choicesOf(version: string, choice: string): readonly string[] {
  const row = choiceRows[choice]?.find((each) => existsIn(version, each));
  if (row === undefined) throw new Error(`commands.json: version ${version} has no choice "${choice}"`);
  return row.values;
}

/** All rows of commands, for tests of the table itself. */
export function allCommandRows(): readonly (CommandRow & { readonly uses: readonly string[] })[] {
  return commandRows;
}
