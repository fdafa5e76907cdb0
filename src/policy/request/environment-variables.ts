import { maxEnvironmentEntries } from "../../operations/contract/wire-values.ts";
import { kibibyte } from "../../base/bytes.ts";
import { utf8Length } from "../../base/streams/utf8.ts";
import { invalidValue } from "./invalid-value.ts";
import { shellQuoted } from "../../base/shell-words.ts";

/** Most bytes of all `NAME=value` entries, each with its end; one entry may not be longer on Linux either. */
export const maxEnvironmentBytes: number = 128 * kibibyte;

/** What the name of an environment variable may look like. */
export const environmentName: RegExp = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The variables of a request, checked; messages never show a value (SPEC EN3).
 *
 * No name is forbidden: `LD_PRELOAD`, `PATH`, `NODE_OPTIONS` and the like change only the program itself, which nobody
 * trusts anyway. That holds as long as they are set on the program's own process, as `ExecSpec.environment` does, and
 * never on a process of ours in the same container.
 * @throws INVALID_REQUEST naming the variable
 */
export function checkEnvironment(
  environment: Readonly<Record<string, string>>,
  field = "environment",
): Readonly<Record<string, string>> {
  const entries = Object.entries(environment);
  if (entries.length > maxEnvironmentEntries) {
    throw invalidValue(field, `expected at most ${maxEnvironmentEntries} variables, found ${entries.length}`);
  }
  let totalBytes = 0;
  for (const [name, value] of entries) {
    checkVariable(name, value, field);
    totalBytes += utf8Length(name) + utf8Length(value) + 2;
  }
  if (totalBytes > maxEnvironmentBytes) {
    throw invalidValue(field, `expected at most ${maxEnvironmentBytes} bytes in all, found ${totalBytes}`);
  }
  return Object.freeze(Object.fromEntries(entries));
}

/** Variables that control colours: Node warns if NO_COLOR and FORCE_COLOR are both set. */
const colourChoices = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"];

/**
 * The variables of a program whose output is no terminal: NO_COLOR=1 and TERM=dumb, unless they choose for themselves.
 * FORCE_COLOR=0 is not set: many libraries, Python's rich among them, take any value of it as a wish for colours.
 */
export function withPlainOutput(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const choosesColours = colourChoices.some((name) => name in environment);
  return { TERM: "dumb", ...(choosesColours ? {} : { NO_COLOR: "1" }), ...environment };
}

/**
 * Exported assignments for a shell to source, one after another; every byte of a value stays as it is, lines' ends and
 * quotes included (SPEC EN2). Names that a shell cannot assign are left out.
 */
export function shellAssignments(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .filter(([name]) => environmentName.test(name))
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
    .join("");
}

function checkVariable(name: string, value: unknown, field: string): void {
  if (!environmentName.test(name)) {
    throw invalidValue(
      `${field}[${JSON.stringify(name.slice(0, 80))}]`,
      "expected a name of letters, digits and underscores that does not start with a digit, such as API_URL",
    );
  }
  const place = `${field}.${name.slice(0, 80)}`;
  if (typeof value !== "string")
    throw invalidValue(place, `expected text, found ${value === null ? "null" : typeof value}`);
  if (value.includes("\0")) throw invalidValue(place, "expected a value without NUL characters");
  if (!value.isWellFormed()) throw invalidValue(place, "expected Unicode text, found half a surrogate pair");
}
