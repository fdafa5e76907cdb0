import { invalidField } from "../../errors/glovebox-error.ts";
import type { Language } from "../language.ts";

/** Name of the code's file when the request gives none, and the endings that a given name may have. */
const mainFiles: Readonly<Record<Language, { readonly name: string; readonly endings: readonly string[] }>> = {
  python: { name: "main.py", endings: [".py"] },
  javascript: { name: "main.js", endings: [".js", ".mjs", ".cjs"] },
  typescript: { name: "main.ts", endings: [".ts", ".mts", ".cts"] },
};

/** Letters, digits and `_.-`, not led by a dot or a dash, at most 100 in all: safe as a file and as an argument. */
const plainName = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,99}$/u;

/**
 * Name of the file that the code is placed in, as tracebacks show it.
 *
 * A name that is not plain or has another language's ending is replaced by the language's own, since it is only a
 * label; what it must never be is a path.
 * @throws INVALID_REQUEST for a path
 */
export function checkMainFile(filename: string | undefined, language: Language): string {
  const { name, endings } = mainFiles[language];
  if (filename === undefined) return name;
  if (/[/\\\0]/.test(filename)) throw invalidField("filename", "a name without a folder, such as hello.py", filename);
  const fits = plainName.test(filename) && endings.some((ending) => filename.endsWith(ending));
  return fits ? filename : name;
}
