import { invalidField } from "../errors/glovebox-error.ts";
import { languageOf, type LanguageName } from "./language-table.ts";

/** Letters, digits and `_.-`, not led by a dot or a dash, at most 100 in all: safe as a file and as an argument. */
const plainName = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,99}$/u;

/**
 * Name of the file that the code is placed in, as tracebacks show it.
 *
 * A name that is not plain or has another language's ending is replaced by the language's own, since it is only a
 * label; what it must never be is a path.
 * @throws INVALID_REQUEST for a path
 */
export function checkMainFile(filename: string | undefined, language: LanguageName): string {
  const { mainFile, endings } = languageOf(language);
  if (filename === undefined) return mainFile;
  if (/[/\\\0]/.test(filename)) throw invalidField("filename", "a name without a folder, such as hello.py", filename);
  const fits = plainName.test(filename) && endings.some((ending) => filename.endsWith(ending));
  return fits ? filename : mainFile;
}
