import { GloveboxError } from "../errors/glovebox-error.ts";
import type { ServerCommand } from "./client.ts";

type Entry = Readonly<Record<string, unknown>>;

/** The arguments between Glovebox's command and a wrapped server's own. */
const marker = ["mcp", "wrap"] as const;

/**
 * A client's entry with the server's command wrapped to run in a sandbox; its variables are passed on by name. One that
 * is already wrapped is wrapped again from its original command.
 * @param options of `glovebox mcp wrap`
 * @throws INVALID_REQUEST for an entry without a command
 */
export function wrapEntry(entry: Entry, own: ServerCommand, options: readonly string[]): Entry {
  const bare = isWrapped(entry) ? unwrapEntry(entry) : entry;
  const names = Object.keys(bare["env"] ?? bare["environment"] ?? {});
  const variables = names.flatMap((name) => ["--env", name]);
  const words = [...own.args, ...marker, ...options, ...variables, "--", ...wordsOf(bare)];
  return withWords(bare, [own.command, ...words]);
}

/** The entry as it was before it was wrapped. @throws INVALID_REQUEST if it is not wrapped */
export function unwrapEntry(entry: Entry): Entry {
  if (!isWrapped(entry)) throw unusable("it is not wrapped");
  const words = wordsOf(entry);
  return withWords(entry, words.slice(words.indexOf("--") + 1));
}

function isWrapped(entry: Entry): boolean {
  const words = wordsOf(entry);
  const at = words.findIndex((word, index) => word === marker[0] && words[index + 1] === marker[1]);
  return at > 0 && words.indexOf("--") > at;
}

/** Clients write a command and its arguments, or both as one list. */
function wordsOf({ command, args }: Entry): readonly string[] {
  const more: readonly unknown[] = Array.isArray(args) ? args : [];
  const words: readonly unknown[] = Array.isArray(command) ? command : [command, ...more];
  if (words.length > 0 && words.every((word) => typeof word === "string")) return words;
  throw unusable("it starts no command; servers at a URL run elsewhere");
}

function withWords(entry: Entry, words: readonly string[]): Entry {
  if (Array.isArray(entry["command"])) return { ...entry, command: words };
  const [command, ...args] = words;
  return { ...entry, command, args };
}

function unusable(reason: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The entry cannot be changed: ${reason}.`, {
    suggestion: "Name a server that the client starts by a command.",
  });
}
