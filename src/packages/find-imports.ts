import type { LanguageName } from "../languages/language-table.ts";
import { maxPackages } from "../operations/contract/wire-values.ts";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { throwIfCancelled } from "../base/abort.ts";
import { formatBytes, kibibyte, mebibyte } from "../base/bytes.ts";
import type { Kept, KeptBounds } from "../base/kept.ts";
import { runLimitedChild, type LimitedChildResult } from "../base/limited-child.ts";
import { utf8Length } from "../base/streams/utf8.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { maxCodeBytes } from "../policy/request/requested-program.ts";
import { maxContextBytes } from "../policy/request/context-files.ts";
import { isNpmPackage, npmPackage } from "./npm-package.ts";
import { isPythonPackage } from "./python-package.ts";
import type { ImportedPackages, ScanRequest, SourceFile } from "./imported-packages.ts";
import { dialectsOf } from "./dialects.ts";
import { standardLibrary } from "./standard-library.ts";
import type { Kit } from "../base/kit.ts";

export interface FindImportsInput {
  readonly language: LanguageName;
  /** All text files of the program, its main file first; those of other languages only tell what is its own. */
  readonly files: readonly SourceFile[];
}

export interface FindImportsOptions extends Pick<Kit, "platform" | "executable"> {
  readonly signal?: AbortSignal | undefined;
  /**
   * Answers of earlier searches, by what each was given: an answer follows from that alone, so whoever sends the same code may
   * have it. Of the code only a hash is kept. Left out: none are kept. A failed search is never one.
   */
  readonly kept?: Kept<ImportedPackages> | undefined;
}

/** Most answers that are kept; beyond that the least recently used goes. Each is at most 64 KiB, mostly some names. */
export const keptAnswers: KeptBounds = { max: 64 };
/** All that a request can hold. */
const maxSourceBytes = maxCodeBytes + maxContextBytes;
const maxOutputBytes = 64 * kibibyte;
/** A megabyte of ordinary code takes about one second. */
const timeLimitMs = 10_000;
const heapMegabytes = 512;
/** Address space; Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4096 * mebibyte;

const none: ImportedPackages = { needed: [], optional: [] };

/**
 * The packages that a program's imports need, as specifications to install: `lodash`, `PyYAML`, or `name@1.2.3` for an
 * inline `npm:name@1.2.3`. What the interpreter has, and the program's own files, are left out
 * (docs/imports.md). The code is parsed in a process of its own, limited in time, memory and output, and never run.
 * @throws INVALID_REQUEST for code that is too large or breaks the parser, TIMEOUT, CANCELLED
 */
export async function findImports(
  { language, files }: FindImportsInput,
  { signal, executable, platform, kept }: FindImportsOptions,
): Promise<ImportedPackages> {
  const candidates = files.filter((file) => mayNeedPackages(file, language));
  if (candidates.length === 0) return none;
  checkSize(candidates);
  const request: ScanRequest = {
    language,
    files: candidates,
    paths: files.map(({ path }) => path),
    main: files[0]?.path ?? "",
  };
  const input = JSON.stringify(request);
  throwIfCancelled(signal);
  const key = createHash("sha256").update(input).digest("base64");
  const known = kept?.use(key);
  if (known !== undefined) return known;
  const child = {
    name: "The search for imports",
    command: [executable, ...flags, script()] as const,
    environment: {},
    platform,
    input,
    timeLimitMs,
    memoryLimitBytes: addressSpaceBytes,
    maxOutputBytes,
  };
  const answer = readAnswer(await runLimitedChild(child, signal), language);
  kept?.set(key, answer);
  return answer;
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

function readAnswer(result: LimitedChildResult, language: LanguageName): ImportedPackages {
  if (result.timedOut) {
    throw new GloveboxError("TIMEOUT", `The search for imports took longer than ${timeLimitMs / 1000} s.`);
  }
  if (result.exitCode !== 0) {
    throw tooMuch("The code is too large or too deeply nested to be searched for imports.");
  }
  const found = believe(result.stdout, language === "python" ? isPythonPackage : isNpmPackage);
  const count = found.needed.length + found.optional.length;
  if (count <= maxPackages) return found;
  throw tooMuch(`The code imports ${count} packages; at most ${maxPackages} can be installed for it.`);
}

/** The process has read hostile code: of what it says only names of packages are taken. */
function believe(stdout: Uint8Array, isPackage: (name: string) => boolean): ImportedPackages {
  try {
    const answer: unknown = JSON.parse(Buffer.from(stdout).toString("utf8"));
    const { needed, optional } = (answer ?? {}) as Readonly<Record<string, unknown>>;
    const namesIn = (said: unknown): readonly string[] =>
      (Array.isArray(said) ? (said as unknown[]) : []).filter((name) => typeof name === "string").filter(isPackage);
    return { needed: namesIn(needed), optional: namesIn(optional) };
  } catch (cause) {
    throw new GloveboxError("INTERNAL", "The search for imports gave no answer that can be read.", { cause });
  }
}

function tooMuch(message: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Send less code, or name the packages yourself.",
  });
}

/**
 * Whether a file has to be parsed: it is of the language, and a word that importing takes stands somewhere else than in a plain
 * import of what the interpreter has. Cheap, for most programs import nothing else; what it cannot tell it says yes to.
 */
export function mayNeedPackages({ path, content }: SourceFile, language: LanguageName): boolean {
  if (language === "python") return /\.pyw?$/.test(path) && content.includes("import") && mayNeedPython(content);
  if (dialectsOf(path).length === 0) return false;
  return /\.[jt]sx$/.test(path) || mayNeedNpm(content);
}

/** Longer code costs more to look at than a process does. */
const maxCharacters = 64 * 1024;

const name = String.raw`[\w.]{1,80}(?:[ \t]{1,8}as[ \t]{1,8}\w{1,80})?`;
/** A whole line, so that nothing goes on in another one; the names may end it, but for what `from` takes. */
const pythonImport = new RegExp(
  String.raw`^[ \t]{0,80}(?:import[ \t]{1,8}(${name}(?:[ \t]{0,8},[ \t]{0,8}${name}){0,20})|from[ \t]{1,8}([\w.]{1,80})[ \t]{1,8}import[ \t(][^#]{0,400})[ \t]{0,8}(?:#.{0,400})?\r?$`,
);

function mayNeedPython(content: string): boolean {
  if (content.length > maxCharacters) return true;
  return content.split("\n").some((line) => {
    if (!line.includes("import")) return false;
    const [, names, from] = pythonImport.exec(line) ?? [];
    // A second statement on the line, or a name such as `import_module`.
    if (line.split("import").length > 2) return true;
    const modules =
      from === undefined ? names?.split(",").map((each) => each.trim().split(/[ \t.]/, 1)[0] ?? "") : [from];
    return modules === undefined || modules.some((module) => !standardLibrary.has(module.split(".", 1)[0] ?? ""));
  });
}

/** What loads a module with a plain name; the clause holds no quote, so it reaches over no other specifier. */
const npmImport =
  /\b(?:import\s{0,8}(?:[\w$*{},\s]{1,400}?\bfrom\s{0,8})?|require\s{0,2}\(\s{0,8})(["'])([\w:./@-]{1,200})\1|\.from\(/g;

function mayNeedNpm(content: string): boolean {
  if (content.length > maxCharacters) return /import|require|from/.test(content);
  const rest = content.replaceAll(npmImport, (whole: string, _quote: string, specifier: string | undefined) =>
    specifier === undefined || isBuiltIn(specifier) ? "" : whole,
  );
  return /import|require|from/.test(rest);
}

function isBuiltIn(specifier: string): boolean {
  return /^(?:node|bun):/.test(specifier) || (/^[a-z]/.test(specifier) && npmPackage(specifier) === null);
}
