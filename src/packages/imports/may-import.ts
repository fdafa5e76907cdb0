import type { Language } from "../../policy/language.ts";
import { dialectsOf } from "../javascript/dialects.ts";
import type { SourceFile } from "./scan-request.ts";

/** Whether a file has to be parsed: it is of the language, and has a word that importing takes. Cheap. */
export function mayImport({ path, content }: SourceFile, language: Language): boolean {
  if (language === "python") return /\.pyw?$/.test(path) && content.includes("import");
  if (dialectsOf(path).length === 0) return false;
  return /\.[jt]sx$/.test(path) || ["import", "require", "from"].some((word) => content.includes(word));
}
