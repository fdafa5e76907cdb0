import { findBunSyntaxError } from "./bun-syntax-error.ts";
import type { FailureReport } from "./failure-report.ts";
import type { Toolchain } from "../languages.ts";
import { findNodeSyntaxError } from "./node-syntax-error.ts";
import { findPythonSyntaxError } from "./python-syntax-error.ts";
import { workFolder, type RunnerFile } from "../runner-job.ts";
import type { SourcePlace } from "./source-place.ts";

/** What a program left behind that may not even have started. */
export interface FailedProgram {
  readonly toolchain: Toolchain;
  readonly stderr: string;
  readonly exitCode: number;
  /** The job's files; files that the program wrote itself do not count. */
  readonly files: readonly RunnerFile[];
  /** What the interpreter calls a file; default: the path in the working folder. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

const readers: Readonly<Record<Toolchain, (report: FailureReport) => SourcePlace | null>> = {
  python: findPythonSyntaxError,
  node: findNodeSyntaxError,
  bun: findBunSyntaxError,
};

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
  nameOf = (path) => `${workFolder}/${path}`,
}: FailedProgram): SourcePlace | null {
  if (exitCode === 0) return null;
  return readers[toolchain]({
    stderr: stderr.slice(-tailCharacters).replaceAll("\r\n", "\n").trimEnd(),
    files: new Map(files.map((file) => [nameOf(file.path), file])),
  });
}
