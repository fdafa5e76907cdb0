import type { JobFile, Language, Runtime, SourcePlace } from "./language.ts";
import { bun, node } from "./javascript.ts";
import { codingNotices, pythonRuntime } from "./python.ts";

/** What JavaScript and TypeScript have in common. */
const onNodeAndBun = {
  image: "node:24-slim",
  runtimes: [node, bun],
  sessionRuntime: bun,
  ecosystem: "npm",
  allowsNul: true,
} as const;

/** The languages of the product. */
const rows = [
  {
    name: "python",
    title: "Python",
    shortNames: ["py"],
    mainFile: "main.py",
    endings: [".py"],
    shebang: /^(?:python|pypy)[\d.]*$/,
    image: "python:3.12-slim",
    runtimes: [pythonRuntime],
    ecosystem: "python",
    allowsNul: false,
    notices: codingNotices,
  },
  {
    ...onNodeAndBun,
    name: "javascript",
    title: "JavaScript",
    shortNames: ["js"],
    mainFile: "main.js",
    endings: [".js", ".mjs", ".cjs"],
    shebang: /^node(?:js)?$/,
  },
  {
    ...onNodeAndBun,
    name: "typescript",
    title: "TypeScript",
    shortNames: ["ts"],
    mainFile: "main.ts",
    endings: [".ts", ".mts", ".cts"],
    shebang: /^(?:bun|deno|tsx|ts-node)$/,
  },
] as const satisfies readonly Language[];

/** Name of a language (SPEC EX1). */
export type LanguageName = (typeof rows)[number]["name"];
/** Name of what runs programs. */
export type RuntimeName = (typeof rows)[number]["runtimes"][number]["name"];
/** Name of one that a request can choose: of a language that several run. */
export type ChosenRuntimeName = ChosenOf<(typeof rows)[number]>;
type ChosenOf<Row> = Row extends { readonly runtimes: readonly [unknown] }
  ? never
  : Row extends { readonly runtimes: readonly { readonly name: infer Name }[] }
    ? Name
    : never;
/** Where packages come from: npm's registry for JavaScript and TypeScript, the Python package index for Python. */
export type Ecosystem = NonNullable<(typeof rows)[number]["ecosystem"]>;

export const languageTable: readonly Language[] = rows;

const runtimeTable = [...new Set(languageTable.flatMap(({ runtimes }) => runtimes))];

export const languageNames: readonly LanguageName[] = rows.map(({ name }) => name);
export const runtimeNames: readonly RuntimeName[] = runtimeTable.map(({ name }) => name as RuntimeName);
export const chosenRuntimeNames: readonly ChosenRuntimeName[] = runtimeNames.filter((name) =>
  languageTable.some(({ runtimes }) => runtimes.length > 1 && runtimes.some((each) => each.name === name)),
) as readonly ChosenRuntimeName[];

/** The language of that name, which the contracts know. */
export function languageOf(name: LanguageName): Language {
  return found(languageTable, name);
}

/** The runtime of that name, which the contracts know. */
export function runtimeOf(name: RuntimeName): Runtime {
  return found(runtimeTable, name);
}

/** The name of a language by one that people and models use; undefined: it means none. */
export function languageNamed(text: string): LanguageName | undefined {
  const named = languageTable.find(({ name, shortNames }) => name === text || shortNames.includes(text));
  return named?.name as LanguageName | undefined;
}

/** Under which key of `images` the deployment's image for such a program stands. */
export function imageKeyOf(language: LanguageName, runtime: RuntimeName | undefined): LanguageName | "session" {
  return runtime !== undefined && runtimeOf(runtime).image === "session" ? "session" : language;
}

/** What a result must tell of code that may mean something else than its author thinks, one sentence each. */
export function codeNotices(code: string, language: LanguageName): readonly string[] {
  return languageOf(language).notices?.(code) ?? [];
}

/** Where the packages of what a runtime runs come from; null: it has none. */
export function ecosystemOfRuntime(runtime: RuntimeName): Ecosystem | null {
  const row = languageTable.find(({ runtimes }) => runtimes.some(({ name }) => name === runtime));
  return row?.ecosystem ?? null;
}

/** What a program left behind that may not even have started. */
export interface FailedProgram {
  readonly toolchain: RuntimeName;
  readonly stderr: string;
  readonly exitCode: number;
  /** The job's files; files that the program wrote itself do not count. */
  readonly files: readonly JobFile[];
  /** What the interpreter calls a file; default: the path in the working folder. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

/** An uncaught error is at the end; longer ones are not searched for. */
const tailCharacters = 32_768;

/**
 * Where a file of the job is not valid in its language, if that is what ended the program; told from what the
 * interpreter wrote last. Bad text that the program itself parses (JSON, `eval`, `new Function`) is no such thing.
 */
export function findSyntaxError({
  toolchain,
  stderr,
  exitCode,
  files,
  nameOf = (path) => `/work/${path}`,
}: FailedProgram): SourcePlace | null {
  if (exitCode === 0) return null;
  return runtimeOf(toolchain).findSyntaxError({
    stderr: stderr.slice(-tailCharacters).replaceAll("\r\n", "\n").trimEnd(),
    files: new Map(files.map((file) => [nameOf(file.path), file])),
  });
}

/** For people: `JavaScript and TypeScript`. */
export function titlesOf(languages: readonly Language[]): string {
  return languages.map(({ title }) => title).join(" and ");
}

function found<Row extends { readonly name: string }>(table: readonly Row[], name: string): Row {
  const row = table.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row for ${name}`);
  return row;
}
