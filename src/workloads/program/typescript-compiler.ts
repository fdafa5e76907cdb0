import { createRequire } from "node:module";
import { posix } from "node:path";
import { mebibyte } from "../../base/bytes.ts";
import { runLimitedChild, type LimitedChild, type LimitedChildResult } from "../../base/limited-child.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SourcePlace } from "../../languages/language.ts";

/** JavaScript with an inline source map, or the place at which the file is not TypeScript. */
export type Compilation = { readonly code: Uint8Array } | { readonly syntaxError: SourcePlace };

/** @throws TIMEOUT, CANCELLED, INVALID_REQUEST for a file that breaks the compiler, UNSUPPORTED without a compiler here */
export type CompileTypeScript = (file: TypeScriptFile, options?: CallOptions) => Promise<Compilation>;

export interface TypeScriptCompilerOptions {
  /** As in `process.platform` and `process.arch`. */
  readonly platform: NodeJS.Platform;
  readonly architecture: NodeJS.Architecture;
}

/** Time for one file; a megabyte of ordinary code takes about one second. */
const timeLimitMs = 10_000;
/** Address space of the child: it reserves half of it at the start; deep nesting would take more and ends. */
const addressSpaceBytes = 2048 * mebibyte;
/** JavaScript of one file with its source map; a megabyte of code makes about 6. */
const maxOutputBytes = 32 * mebibyte;

/**
 * A compiler for Node: the file becomes JavaScript of the same module format. Types are removed; enums, namespaces and
 * decorators become code; nothing is checked. Each file gets a child process of its own, limited in time, memory and
 * output, because the file is hostile input.
 */
export function createTypeScriptCompiler(options: TypeScriptCompilerOptions): CompileTypeScript {
  return async (file, { signal } = {}) => {
    const command: CompilerCommand = { binary: findCompiler(options), platform: options.platform };
    let result = await runCompiler(command, file, [], signal);
    if (result.exitCode !== 0 && needsExperimentalDecorators(result.stderr)) {
      const settings = JSON.stringify({ compilerOptions: { experimentalDecorators: true } });
      result = await runCompiler(command, file, [`--tsconfig-raw=${settings}`], signal);
    }
    if (result.exitCode === 0) return { code: result.stdout };
    const syntaxError = firstCompilerError(result.stderr, file);
    if (syntaxError !== null) return { syntaxError };
    throw new GloveboxError("INVALID_REQUEST", `${file.path}: too large or too deeply nested to be compiled.`, {
      suggestion: "Split the file, or send it as JavaScript.",
      context: { file: file.path, compiler_exit_code: result.exitCode },
    });
  };
}

interface CompilerCommand {
  readonly binary: string;
  readonly platform: NodeJS.Platform;
}

/** The compiler's executable, by the name of the package that contains it for a platform. */
export function compilerFile({ platform, architecture }: TypeScriptCompilerOptions): string {
  const name = platform === "win32" ? "esbuild.exe" : "bin/esbuild";
  return `@esbuild/${platform}-${architecture}/${name}`;
}

function findCompiler({ platform, architecture }: TypeScriptCompilerOptions): string {
  try {
    return createRequire(import.meta.url).resolve(compilerFile({ platform, architecture }));
  } catch (cause) {
    throw new GloveboxError("UNSUPPORTED", `There is no TypeScript compiler for ${platform} on ${architecture} here.`, {
      suggestion: "Install Glovebox with its optional dependencies, or send the code as JavaScript.",
      cause,
    });
  }
}

function compilerArguments(path: string): readonly string[] {
  return [
    `--loader=${path.endsWith(".tsx") ? "tsx" : "ts"}`,
    // Named without its folder: the source map resolves it against the file's own place.
    `--sourcefile=${posix.basename(path)}`,
    "--target=node22",
    "--jsx=automatic",
    "--sourcemap=inline",
    "--sources-content=false",
    "--charset=utf8",
    "--log-level=error",
    "--log-limit=1",
    "--color=false",
    ...(path.endsWith(".cts") ? ["--format=cjs", "--platform=node"] : []),
  ];
}

async function runCompiler(
  command: CompilerCommand,
  file: TypeScriptFile,
  more: readonly string[],
  signal: AbortSignal | undefined,
): Promise<LimitedChildResult> {
  const { binary, platform } = command;
  const child: LimitedChild = {
    name: "The TypeScript compiler",
    command: [binary, ...compilerArguments(file.path), ...more],
    environment: { GOMEMLIMIT: "400MiB" },
    platform,
    input: file.content,
    timeLimitMs,
    memoryLimitBytes: addressSpaceBytes,
    maxOutputBytes,
  };
  const result = await runLimitedChild(child, signal);
  if (!result.timedOut) return result;
  throw new GloveboxError("TIMEOUT", `${file.path}: compiling took longer than ${timeLimitMs / 1000} s.`);
}

/** A TypeScript file to compile. */
interface TypeScriptFile {
  /** Relative path, with its extension: `.ts`, `.tsx`, `.mts` or `.cts`. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** Whether the compiler refused the file only because its decorators are of the kind that TypeScript had first. */
export function needsExperimentalDecorators(stderr: string): boolean {
  return /^✘ \[ERROR\] .*experimental decorators/m.test(stderr);
}

/**
 * The first error of the compiler's standard error; null when there is none, which means that the compiler broke down.
 */
export function firstCompilerError(stderr: string, file: TypeScriptFile): SourcePlace | null {
  const error = /^✘ \[ERROR\] (.*)\n(?:\n {4}.*:(\d+):(\d+):\n)?/m.exec(stderr);
  if (error === null) return null;
  const [, message = "", line, byteColumn] = error;
  if (line === undefined || byteColumn === undefined) return { file: file.path, line: null, column: null, message };
  return {
    file: file.path,
    line: Number(line),
    column: columnOfByte(file.content, Number(line), Number(byteColumn)),
    message,
  };
}

/** The compiler counts bytes of UTF-8 from 0; editors count characters from 1. */
function columnOfByte(content: Uint8Array, line: number, byte: number): number {
  const lines = new TextDecoder().decode(content).split(/\r\n|[\n\r\u2028\u2029]/);
  return (
    Buffer.from(lines[line - 1] ?? "")
      .subarray(0, byte)
      .toString().length + 1
  );
}
