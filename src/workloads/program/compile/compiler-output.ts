import type { SourcePlace } from "../syntax/source-place.ts";

/** A TypeScript file to compile. */
export interface TypeScriptFile {
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
