/** Maximum characters of a description, and how far into a text its first words are looked for. */
const max = { shown: 80, read: 4_096 } as const;

/** Takes the values of secrets out of a text. */
export interface TextRedaction {
  text(text: string): string;
}

/** Lines that say little about a program: comments, shebangs, lone brackets and imports. */
const dullLine = /^(?:#|\/\/|\/\*|\*|"""|'''|[[\](){};]*$|import\b|from\b.+\bimport\b|"use strict")/;

/**
 * What runs, for lists: the first line of a program or of a prompt that says something, behind a word for what it is.
 * One line of at most 80 characters, without control characters and values of secrets.
 */
export function describeWork(kind: string, text: string, redaction: TextRedaction): string {
  const lines = firstOf(text, redaction)
    .split(/[\r\n]+/)
    .map(plain)
    .filter((line) => line !== "");
  const first = lines.find((line) => !dullLine.test(line)) ?? lines[0] ?? "";
  return cut(first === "" ? kind : `${kind}: ${first}`);
}

/** The same for a command, which needs no other word: a shell line, or a program and its arguments. */
export function describeCommand(command: string | readonly string[], redaction: TextRedaction): string {
  const line = typeof command === "string" ? command : (shellLineOf(command) ?? wordsOf(command));
  return cut(plain(firstOf(line, redaction)));
}

/** A value that begins in what is shown is whole before it is taken out, if it is no longer than that. */
function firstOf(text: string, redaction: TextRedaction): string {
  return redaction.text(text.slice(0, 2 * max.read)).slice(0, max.read);
}

/** What a shell is given to run; null: it is no shell. */
function shellLineOf([program = "", option, line, ...more]: readonly string[]): string | null {
  const isShell = /^(?:\/bin\/)?(?:ba)?sh$/.test(program) && (option === "-c" || option === "-lc");
  return isShell && line !== undefined && more.length === 0 ? line : null;
}

/** Empty arguments and those with blanks stay apart from each other. */
function wordsOf(words: readonly string[]): string {
  let text = "";
  for (const word of words) {
    if (text.length > max.shown) break;
    const shown = word.slice(0, max.read);
    text += `${text === "" ? "" : " "}${/^[^\s"']+$/.test(shown) ? shown : JSON.stringify(shown)}`;
  }
  return text;
}

// oxlint-disable-next-line no-control-regex -- they are what is taken out
const controls = /[\s\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]+/g;

function plain(text: string): string {
  return text.toWellFormed().replace(controls, " ").trim();
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= max.shown ? text : `${characters.slice(0, max.shown - 3).join("")}...`;
}
