import { wordsAsShellLine } from "../base/shell-words.ts";

/** A single argument is a shell line already; several are a program and its arguments, taken literally. */
export function toShellLine(command: readonly string[]): string {
  return command.length === 1 ? (command[0] ?? "") : wordsAsShellLine(command);
}
