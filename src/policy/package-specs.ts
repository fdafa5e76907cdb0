import { maxPackages } from "../operations/contract/wire-values.ts";
import { utf8Length } from "../base/streams/utf8.ts";
import { invalidValue } from "./request/invalid-value.ts";
import { languageOf, type Ecosystem, type LanguageName } from "../languages/language-table.ts";

export type { Ecosystem } from "../languages/language-table.ts";

/** Longest specification, in bytes; npm's own limit for a name is 214. */
const maxSpecBytes = 300;

const npmName = String.raw`(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~_-][a-z0-9._~-]*`;
/** A version, a range without spaces, or a tag. */
const npmVersion = String.raw`[A-Za-z0-9.+~^<>=*_-]+`;
const npmSpec = new RegExp(`^(?:npm:)?(?<name>${npmName})(?:@(?<version>${npmVersion}))?$`, "i");

const pythonName = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?";
const pythonClause = String.raw`(?:===?|~=|!=|<=|>=|<|>)[A-Za-z0-9.*+!_-]+`;
const pythonSpec = new RegExp(
  String.raw`^(?<name>${pythonName})(?<extras>\[${pythonName}(?:,${pythonName})*\])?(?<version>${pythonClause}(?:,${pythonClause})*)?$`,
);

/** Where the packages of a language come from; null: it has none. */
export function ecosystemOf(language: LanguageName): Ecosystem | null {
  return languageOf(language).ecosystem;
}

/**
 * The packages of a request in one form: sorted, each once, so that the same wish is always the same list.
 * Only names with versions: no address, no path, no option of the installing tool.
 * @throws INVALID_REQUEST naming the package, also for two versions of one
 */
export function checkPackages(
  specs: readonly string[],
  ecosystem: Ecosystem | null,
  field = "packages",
): readonly string[] {
  if (ecosystem === null && specs.length > 0) throw invalidValue(field, "expected none: the language has no packages");
  if (ecosystem === null) return [];
  if (specs.length > maxPackages) {
    throw invalidValue(field, `expected at most ${maxPackages} packages, found ${specs.length}`);
  }
  const byName = new Map<string, string>();
  for (const [index, text] of specs.entries()) {
    const { name, spec } = parse(text, ecosystem, `${field}[${index}]`);
    const other = byName.get(name);
    if (other !== undefined && other !== spec) {
      throw invalidValue(`${field}[${index}]`, `expected each package once, found "${other}" and "${spec}"`);
    }
    byName.set(name, spec);
  }
  return Object.freeze([...byName.values()].toSorted());
}

/** The package's name in its usual form: `lodash` of `lodash@4.17.21`, `pyyaml` of `PyYAML==6.0`. */
export function packageName(spec: string, ecosystem: Ecosystem): string {
  return parse(spec, ecosystem, "packages").name;
}

function parse(text: string, ecosystem: Ecosystem, field: string): { readonly name: string; readonly spec: string } {
  const isNpm = ecosystem === "npm";
  const plain = isNpm ? text.trim() : text.replaceAll(/\s+/g, "");
  const found = utf8Length(plain) > maxSpecBytes ? null : (isNpm ? npmSpec : pythonSpec).exec(plain);
  const { name = "", version = "", extras = "" } = found?.groups ?? {};
  if (name === "" || name.startsWith("-")) {
    const example = isNpm ? "lodash, @scope/name or lodash@4.17.21" : "requests, requests==2.32.0 or name[extra]>=1,<2";
    throw invalidValue(field, `expected a package such as ${example}, got ${JSON.stringify(text.slice(0, 80))}`);
  }
  if (isNpm) return { name: name.toLowerCase(), spec: version === "" ? name : `${name}@${version}` };
  const usual = name.toLowerCase().replaceAll(/[-_.]+/g, "-");
  return { name: usual, spec: `${usual}${extras.toLowerCase()}${version}` };
}
