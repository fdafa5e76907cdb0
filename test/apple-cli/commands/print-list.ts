import type { Context } from "../context.ts";
import { NotImitated } from "../output/command-error.ts";
import { indented, oneLine, type Json } from "../output/swift-json.ts";
import { tableOf } from "../output/table.ts";

/** What a list shows, in each of its forms. */
export interface Listing {
  readonly json: readonly Json[];
  /** Names, for --quiet. */
  readonly names: readonly string[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Text that breaks off in the middle, if output is truncated. */
const cut = ({ fault }: Context, text: string): string =>
  fault === "truncated" ? text.slice(0, Math.floor(text.length / 2)) : text;

/** Prints a list in the requested form. */
export function printList(context: Context, { json, names, header, rows }: Listing): void {
  const { options, say } = context;
  const format = options.one("format") ?? "table";
  if (format === "yaml" || format === "toml") throw new NotImitated(`--format ${format} is not imitated`);
  if (format === "json") say.out(cut(context, oneLine(json)));
  else if (!options.has("quiet")) say.out(tableOf(header, rows));
  else if (names.length > 0) say.out(names.join("\n"));
}

/** Prints what `inspect` has found. */
export function printInspection(context: Context, json: Json): void {
  context.say.out(cut(context, indented(json)));
}
