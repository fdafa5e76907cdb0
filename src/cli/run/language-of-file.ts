import path from "node:path";
import { invalidField } from "../../errors/glovebox-error.ts";

export type Language = "python" | "javascript" | "typescript";

const languages: Readonly<Record<string, Language>> = {
  ".py": "python",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
};

const shortNames: Readonly<Record<string, Language>> = { py: "python", js: "javascript", ts: "typescript" };

/** Interpreters that a shebang line may name. */
const interpreters: readonly (readonly [name: RegExp, language: Language])[] = [
  [/^(?:python|pypy)[\d.]*$/, "python"],
  [/^node(?:js)?$/, "javascript"],
  [/^(?:bun|deno|tsx|ts-node)$/, "typescript"],
];

/** The wire's name for the value of `--language`; the operation rejects unknown ones. */
export function languageOfOption(text: string): string {
  return shortNames[text] ?? text;
}

/**
 * Language of a program: by its file extension, else by its first line (`#!/usr/bin/env python3`), else Python if the
 * program is not a file.
 * @param file null: the program is not a file
 * @throws INVALID_REQUEST for a file whose language neither shows
 */
export function languageOfProgram(file: string | null, code: string): Language {
  const language = file === null ? undefined : languages[path.extname(file).toLowerCase()];
  const found = language ?? languageOfShebang(code) ?? (file === null ? "python" : undefined);
  if (found !== undefined) return found;
  throw invalidField(
    "--language",
    `one of python, javascript, typescript, because neither the file extension (${Object.keys(languages).join(" ")}) nor a first line such as #!/usr/bin/env python3 says which`,
    file,
  );
}

function languageOfShebang(code: string): Language | undefined {
  const words = /^#!([^\r\n]+)/.exec(code)?.[1]?.trim().split(/\s+/) ?? [];
  const [first = "", ...rest] = words.map((word) => word.split("/").at(-1) ?? "");
  // `env`'s own options and variables come before the interpreter.
  const name = first === "env" ? rest.find((word) => !/^-|=/.test(word)) : first;
  return interpreters.find(([pattern]) => pattern.test(name ?? ""))?.[1];
}
