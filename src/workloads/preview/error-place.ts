import { copyFolder } from "../project/copy-project.ts";

/** Where an error is, in a file of the project where one is named. */
export interface ErrorPlace {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
}

/**
 * Forms in which tools name a place, the clearest first. A program writes the lines, as many as it likes: a path is tried from
 * where it begins, and not from each of its characters.
 */
const forms: readonly RegExp[] = [
  /^\s*File: (?<file>.+?):(?<line>\d+)(?::\d+)?\s*$/,
  /[╭┌]─{1,8}\[\s{0,8}(?<file>.{1,400}?):(?<line>\d+):\d+\s{0,8}\]/,
  /^ERROR in (?<file>\S+) (?<line>\d+):\d+/,
  /(?<![^\s(:"'])(?<file>[^\s(:"']{1,400}\.\w{1,20}): .{0,400}\((?<line>\d+):\d+\)/,
  /(?<![^\s(:"'[])(?<file>(?:file:\/\/)?[^\s(:"'[]{1,400}\.(?:[cm]?[jt]sx?|vue|svelte|astro|css|scss|less|html|json|mdx?)):(?<line>\d+)/,
];
const pythonForm = /File "(?<file>[^"]+)", line (?<line>\d+)/;
/** Not the project's own. */
const foreign = /(?:^|\/)(?:node_modules|site-packages|dist-packages|lib\/python[\d.]*)\/|^node:|^<|^internal\//;

/** The place that an error's lines name first; of Python's calls the last, where it was raised. Null: none. */
export function placeOfError(lines: readonly string[]): ErrorPlace | null {
  const python = lines.flatMap((line) => placeIn(line, pythonForm) ?? []);
  const last = python.at(-1);
  if (last !== undefined) return last;
  for (const form of forms) {
    const [first] = lines.flatMap((line) => placeIn(line, form) ?? []);
    if (first !== undefined) return first;
  }
  return null;
}

function placeIn(line: string, form: RegExp): ErrorPlace | null {
  const { file, line: number } = form.exec(line)?.groups ?? {};
  if (file === undefined || number === undefined) return null;
  const path = file.trim().replace(/^file:\/\//, "");
  if (foreign.test(path)) return null;
  const prefix = `${copyFolder}/`;
  const own = path.startsWith(prefix) ? path.slice(prefix.length) : path.replace(/^(?:\.\/|webpack:\/\/\/?)/, "");
  return { file: own, line: Number(number) };
}
