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

/** @throws INVALID_REQUEST for an ending that says no language */
export function languageOfFile(file: string): Language {
  const language = languages[path.extname(file).toLowerCase()];
  if (language !== undefined) return language;
  throw invalidField(
    "--language",
    `one of python, javascript, typescript, since the file's ending does not tell (${Object.keys(languages).join(" ")})`,
    file,
  );
}
