import { node } from "../../../languages/javascript.ts";
import type { LanguageName } from "../../../languages/language-table.ts";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { mebibyte } from "../../../base/bytes.ts";
import { runLimitedChild } from "../../../base/limited-child.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { withPlainSpecifiers, type CompiledFiles } from "../../program/compile-files.ts";
import type { CompileTypeScript } from "../../program/typescript-compiler.ts";
import type { Kit } from "../../../base/kit.ts";

/** What one call of a session that keeps variables is to run. */
export interface NotebookInput {
  /** The code's file, as mistakes name it. */
  readonly path: string;
  readonly language: LanguageName;
  readonly code: string;
}

/** Of the interpreter of JavaScript. */
const mainFile = node.notebook.main;

/** Makes a call's code into what the interpreter runs. @throws TIMEOUT, CANCELLED, INVALID_REQUEST for what breaks a parser */
export type MakeNotebookCode = (input: NotebookInput, options: CallOptions) => Promise<CompiledFiles>;

export interface NotebookCodeOptions extends Pick<Kit, "platform" | "executable"> {
  readonly compile: CompileTypeScript;
}

/** A megabyte of ordinary code takes about one second. */
const timeLimitMs = 10_000;
/** Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4096 * mebibyte;
const maxOutputBytes = 16 * mebibyte;

const flags = [
  ...["--max-old-space-size=512", "--disallow-code-generation-from-strings", "--no-warnings"],
  // It reads its own files and the parser's, wherever those are installed, and has nothing to write or start.
  ...["--permission", "--allow-fs-read=*", "--allow-addons"],
];

/** The process has read hostile code: its words are of this form, and no more. */
const answer = z.union([
  z.strictObject({ code: z.string(), places: z.string() }),
  z.strictObject({
    mistake: z.strictObject({ message: z.string().max(2000), line: z.int().min(1), column: z.int().min(1) }),
  }),
  z.strictObject({ needsCompiler: z.literal(true) }),
]);

/** The code is parsed in a process of its own, limited in time, memory and output. */
export function createNotebookCode(options: NotebookCodeOptions): MakeNotebookCode {
  return async ({ path, language, code }, { signal }) => {
    const source = Buffer.from(withPlainSpecifiers(path, Buffer.from(code.replace(/^\uFEFF/, "")))).toString("utf8");
    let made = await ask(options, { language, source, isCompiled: false }, signal);
    if ("needsCompiler" in made) {
      const compilation = await options.compile(
        { path: language === "typescript" ? path : "main.tsx", content: Buffer.from(source) },
        { signal },
      );
      if ("syntaxError" in compilation) return { syntaxError: { ...compilation.syntaxError, file: path } };
      const compiled = Buffer.from(compilation.code).toString("utf8");
      made = await ask(options, { language: "javascript", source: compiled, isCompiled: true }, signal);
    }
    if ("mistake" in made) return { syntaxError: { file: path, ...made.mistake } };
    if ("needsCompiler" in made) throw tooMuch();
    return { files: [{ path: mainFile, content: Buffer.from(`${made.code}\n//${made.places}`) }] };
  };
}

async function ask(
  { executable, platform }: NotebookCodeOptions,
  input: { readonly language: string; readonly source: string; readonly isCompiled: boolean },
  signal: AbortSignal | undefined,
): Promise<z.output<typeof answer>> {
  const child = {
    name: "The parser of JavaScript",
    command: [executable, ...flags, script()] as const,
    environment: {},
    platform,
    input: JSON.stringify(input),
    timeLimitMs,
    memoryLimitBytes: addressSpaceBytes,
    maxOutputBytes,
  };
  const result = await runLimitedChild(child, signal);
  if (result.timedOut) {
    throw new GloveboxError("TIMEOUT", `Parsing the code took longer than ${timeLimitMs / 1000} s.`);
  }
  if (result.exitCode !== 0) throw tooMuch();
  try {
    return answer.parse(JSON.parse(Buffer.from(result.stdout).toString("utf8")));
  } catch (cause) {
    throw new GloveboxError("INTERNAL", "The parser of JavaScript gave no answer that can be read.", { cause });
  }
}

function script(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./notebook-main.ts" : "./notebook-main.js", import.meta.url));
}

function tooMuch(): GloveboxError {
  return new GloveboxError(
    "INVALID_REQUEST",
    "The code is too large or too deeply nested for a session that keeps variables.",
    {
      suggestion: "Send less code in one call.",
      context: { field: "code" },
    },
  );
}
