import { stripTypeScriptTypes } from "node:module";
import { text } from "node:stream/consumers";
import { notebookCode, type NotebookCode } from "./notebook-code.ts";

/** Without types every line stays; the other way knows more of TypeScript. */
const ways = ["strip", "transform"] as const;

function fromTypeScript(source: string): NotebookCode {
  for (const mode of ways) {
    try {
      return notebookCode(stripTypeScriptTypes(source, { mode }));
    } catch {
      // What it does not know the compiler may.
    }
  }
  return { needsCompiler: true };
}

const { language, source } = JSON.parse(await text(process.stdin)) as { language: string; source: string };
process.stdout.write(JSON.stringify(language === "typescript" ? fromTypeScript(source) : notebookCode(source)));
