import type { Logger } from "../../base/kit.ts";
import { escapeLine } from "./terminal-escape.ts";

/** Characters of one line; reasons may repeat what an engine or a program said. */
const maxLine = 1_000;
const maxReason = 600;
const maxField = 100;

/** Commands print the log for people: a line per entry with its message, its reason and its other fields in short. */
export function plainLog(stderr: { readonly write: (text: string) => unknown }): Logger {
  const write: Logger["info"] = ({ err, ...fields }, message) => {
    const reason = err instanceof Error ? `: ${err.message}` : "";
    const rest = Object.entries(fields).map(([name, value]) => `${name} ${shortly(value)}`);
    const beside = rest.length === 0 ? "" : ` (${rest.join(", ")})`;
    stderr.write(`${escapeLine(`glovebox: ${message}${reason.slice(0, maxReason)}${beside}`.slice(0, maxLine))}\n`);
  };
  return { debug: write, info: write, warn: write, error: write };
}

function shortly(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "none")).slice(0, maxField);
}
