import { nearest } from "../../base/nearest.ts";
import {
  environmentTable,
  ignoredPrefixes,
  insteadOf,
  otherVariables,
  type EnvironmentRow,
} from "./environment-table.ts";
import type { Layer } from "./layer.ts";
import { nest } from "./settings-keys.ts";

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings in the environment; a variable that is set but empty counts as unset. */
export function environmentLayer(environment: Environment): Layer {
  const values = Object.entries(environmentTable).map(
    ([variable, row]) => [row.key, readForm(environment[variable] ?? "", row)] as const,
  );
  return {
    source: "environment",
    content: nest(values),
    placeOf: (key) => `environment variable ${variableOf(key) ?? key}`,
  };
}

/** What is wrong with the names of variables that have our prefixes, one sentence each. */
export function unknownVariables(environment: Environment): readonly string[] {
  const known = [...Object.keys(environmentTable), ...otherVariables];
  return Object.keys(environment)
    .filter((name) => name.startsWith("GLOVEBOX_") && !known.includes(name))
    .filter((name) => !ignoredPrefixes.some((prefix) => name.startsWith(prefix)))
    .map((name) => {
      const meant = insteadOf.get(name) ?? known.find((other) => name === `GLOVEBOX_${other}`) ?? nearest(name, known);
      return `environment variable ${name} is not known${meant === null ? "" : ` (did you mean ${meant}?)`}`;
    });
}

/** Name of the variable that sets a key. */
export function variableOf(key: string): string | null {
  return Object.entries(environmentTable).find(([, row]) => row.key === key)?.[0] ?? null;
}

/** A variable's text as the file's value; text that cannot be converted is left for the schema to reject. */
export function readForm(text: string, row: Pick<EnvironmentRow, "form">): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (row.form === "number") return /^[+-]?\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
  if (row.form === "list") return trimmed.split(",").map((item) => item.trim());
  if (row.form === "flag") return trimmed === "true" || (trimmed === "false" ? false : trimmed);
  if (row.form === "json") return parseJson(trimmed);
  return trimmed;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
