import { utf8Length } from "../../base/streams/utf8.ts";
import { wordsAsShellLine } from "../../base/shell-line.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { checkArguments, maxArgumentBytes } from "../../policy/request/arguments.ts";
import type { RequestCommand } from "../contract/command-schema.ts";

/**
 * A request's command as a program and its arguments: a string is run by `sh -c`. @throws INVALID_REQUEST naming the
 * field
 */
export function readCommand(given: RequestCommand, field: string): readonly string[] {
  return typeof given === "string" ? ["sh", "-c", checkLine(given, field)] : checkWords(given, field);
}

/**
 * A request's command as a shell line, for a project's copy, where every command starts through a shell that finds what
 * was installed: the words of a list are quoted, so that the shell changes nothing of them. @throws INVALID_REQUEST
 * naming the field
 */
export function readShellLine(given: RequestCommand, field: string): string {
  return checkLine(typeof given === "string" ? given : wordsAsShellLine(checkWords(given, field)), field);
}

/** The same, or "" for one that is empty: nothing is run. @throws INVALID_REQUEST naming the field */
export function readShellLineOrNothing(given: RequestCommand, field: string): string {
  const isNothing = typeof given === "string" ? given.trim() === "" : given.length === 0;
  return isNothing ? "" : readShellLine(given, field);
}

function checkWords(words: readonly string[], field: string): readonly string[] {
  const command = checkArguments(words, field);
  if ((command[0] ?? "") === "") throw invalidField(`${field}[0]`, "the name of a program", command[0]);
  return command;
}

function checkLine(line: string, field: string): string {
  const bytes = utf8Length(line);
  if (line.trim() !== "" && bytes <= maxArgumentBytes && !line.includes("\0") && line.isWellFormed()) return line;
  const shown = line.length > 100 ? `${bytes} bytes` : line;
  throw invalidField(field, `a shell line of Unicode text without NUL, at most ${maxArgumentBytes} bytes`, shown);
}
