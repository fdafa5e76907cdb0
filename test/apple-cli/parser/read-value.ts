import { choicesOf, type OptionRow, type ValueRule } from "./command-table.ts";

const integers: Readonly<Record<Exclude<ValueRule, "double">, readonly [bigint, bigint]>> = {
  int: [-(2n ** 63n), 2n ** 63n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
};

function follows(rule: ValueRule, text: string): boolean {
  if (rule === "double") return text !== "" && Number.isFinite(Number(text));
  const [min, max] = integers[rule];
  return /^[+-]?\d+$/.test(text) && BigInt(text.replace("+", "")) >= min && BigInt(text.replace("+", "")) <= max;
}

function oneOf(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

/** What is wrong with an option's value, in the parser's words; undefined if it is valid. */
export function faultOfValue(version: string, option: OptionRow, spelt: string, value: string): string | undefined {
  const fault = `The value '${value}' is invalid for '${spelt} <${option.value}>'`;
  if (option.rule !== undefined && !follows(option.rule, value)) return fault;
  if (option.choice === undefined) return undefined;
  const values = choicesOf(version, option.choice);
  return values.includes(value) ? undefined : `${fault}. Please provide one of ${oneOf(values)}.`;
}
