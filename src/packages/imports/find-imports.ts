import { fileURLToPath } from "node:url";
import { formatBytes, kibibyte, mebibyte } from "../../base/bytes.ts";
import { runLimitedChild, type LimitedChildResult } from "../../base/processes/limited-child.ts";
import { utf8Length } from "../../base/streams/utf8.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { maxCodeBytes } from "../../policy/request/code.ts";
import { maxContextBytes } from "../../policy/request/context-files.ts";
import type { Language } from "../../policy/language.ts";
import { isNpmPackage } from "../javascript/npm-package.ts";
import { isPythonPackage } from "../python/python-package.ts";
import type { ScanRequest, SourceFile } from "./scan-request.ts";
import { dialectsOf } from "../javascript/dialects.ts";

export interface FindImportsInput {
  readonly language: Language;
  /** All text files of the program; those of other languages only tell what is its own. */
  readonly files: readonly SourceFile[];
}

export interface FindImportsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Node's executable, as in `process.execPath`. */
  readonly executable: string;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
}

/** All that a request can hold. */
const maxSourceBytes = maxCodeBytes + maxContextBytes;
/** Most packages of one program. */
const maxPackages = 200;
const maxOutputBytes = 64 * kibibyte;
/** A megabyte of ordinary code takes about one second. */
const timeLimitMs = 10_000;
const heapMegabytes = 512;
/** Address space; Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4096 * mebibyte;

/**
 * The packages that a program's imports need, as specifications to install: sorted, each once, `lodash`, `PyYAML`, or
 * `name@1.2.3` for an inline `npm:name@1.2.3`. What the interpreter has, and the program's own files, are left out
 * (docs/imports.md). The code is parsed in a process of its own, limited in time, memory and output, and never run.
 * @throws INVALID_REQUEST for code that is too large or breaks the parser, TIMEOUT, CANCELLED
 */
export async function findImports(
  { language, files }: FindImportsInput,
  { signal, executable, platform }: FindImportsOptions,
): Promise<readonly string[]> {
  const candidates = files.filter((file) => mayImport(file, language));
  if (candidates.length === 0) return [];
  checkSize(candidates);
  const request: ScanRequest = { language, files: candidates, paths: files.map(({ path }) => path) };
  const child = {
    name: "The search for imports",
    command: [executable, ...flags, script()] as const,
    environment: {},
    platform,
    input: JSON.stringify(request),
    timeLimitMs,
    memoryLimitBytes: addressSpaceBytes,
    maxOutputBytes,
  };
  return readAnswer(await runLimitedChild(child, signal), language);
}

const flags = [
  ...[`--max-old-space-size=${heapMegabytes}`, "--disallow-code-generation-from-strings", "--no-warnings"],
  // It reads its own files and the parser's, wherever those are installed, and has nothing to write or start.
  ...["--permission", "--allow-fs-read=*", "--allow-addons"],
];

function script(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./scan-main.ts" : "./scan-main.js", import.meta.url));
}

function checkSize(files: readonly SourceFile[]): void {
  const bytes = files.reduce((sum, { content }) => sum + utf8Length(content), 0);
  if (bytes <= maxSourceBytes) return;
  throw tooMuch(`The code to search for imports has ${formatBytes(bytes)}, more than ${formatBytes(maxSourceBytes)}.`);
}

function readAnswer(result: LimitedChildResult, language: Language): readonly string[] {
  if (result.timedOut) {
    throw new GloveboxError("TIMEOUT", `The search for imports took longer than ${timeLimitMs / 1000} s.`);
  }
  if (result.exitCode !== 0) {
    throw tooMuch("The code is too large or too deeply nested to be searched for imports.");
  }
  const names = believe(result.stdout, language === "python" ? isPythonPackage : isNpmPackage);
  if (names.length <= maxPackages) return names;
  throw tooMuch(`The code imports ${names.length} packages; at most ${maxPackages} can be installed for it.`);
}

/** The process has read hostile code: of what it says only names of packages are taken. */
function believe(stdout: Uint8Array, isPackage: (name: string) => boolean): readonly string[] {
  try {
    const answer: unknown = JSON.parse(Buffer.from(stdout).toString("utf8"));
    const said: readonly unknown[] = Array.isArray(answer) ? answer : [];
    return said.filter((name) => typeof name === "string").filter(isPackage);
  } catch (cause) {
    throw new GloveboxError("INTERNAL", "The search for imports gave no answer that can be read.", { cause });
  }
}

function tooMuch(message: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Send less code, or name the packages yourself.",
  });
}

/** Whether a file has to be parsed: it is of the language, and has a word that importing takes. Cheap. */
function mayImport({ path, content }: SourceFile, language: Language): boolean {
  if (language === "python") return /\.pyw?$/.test(path) && content.includes("import");
  if (dialectsOf(path).length === 0) return false;
  return /\.[jt]sx$/.test(path) || ["import", "require", "from"].some((word) => content.includes(word));
}
