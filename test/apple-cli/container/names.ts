import { randomUUID } from "node:crypto";
import { CommandError } from "../output/command-error.ts";
import { isAtLeast } from "../parser/version.ts";

const maxLength = 63;

/** The id that a container gets: its name, or a new UUID. */
export function readName(version: string, name: string | undefined): string {
  if (name === undefined) return randomUUID();
  if (/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/.test(name) && name.length <= maxLength) return name;
  const text = isAtLeast(version, "1.0.0")
    ? `container ID ${name} is not a valid container ID`
    : `invalid entity name ${name}`;
  throw new CommandError("invalidArgument", text);
}

/** The host name that a container sees. */
export function hostNameOf(id: string): string {
  return id.split(".")[0] ?? id;
}
