import { kibibyte } from "../../base/bytes.ts";
import type { FileBytes } from "../../policy/request/context-files.ts";

/** A file that the runner places in the working folder, read-only, before the program starts. */
export interface RunnerFile {
  /** Relative path with `/` between its parts; the runner refuses `..`, absolute paths and duplicates. */
  readonly path: string;
  readonly content: Uint8Array;
  /** What Node loads in place of the content: the JavaScript that a TypeScript file was compiled to. */
  readonly compiled?: Uint8Array | undefined;
}

/** A file that is read while it is sent; nothing here looks at its content. */
export interface RunnerData extends FileBytes {
  /** As `RunnerFile.path`. */
  readonly path: string;
}

/** What a runner receives on its standard input. */
export interface RunnerJob {
  /** Path of the main file, one of `files`; the same as given to `runnerCommand`. */
  readonly main: string;
  /** The program's own arguments. */
  readonly arguments: readonly string[];
  /** Variables that come with the job, because only the program may see them: an engine never gets them. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly files: readonly RunnerFile[];
  /** Placed like the files, after them. Default: none. */
  readonly data?: readonly RunnerData[] | undefined;
  /** Where the files are placed; the same as given to `runnerCommand`; default `/work`. */
  readonly folder?: string | undefined;
  /** Where the program starts; default: where its interpreter was started, or `folder`. */
  readonly workingDirectory?: string | undefined;
  /**
   * Folders whose files an earlier program may have left: nothing in them runs by itself before the program, such as the
   * settings of its interpreter; the program can import from them as ever. Default: none.
   */
  readonly untrusted?: readonly string[] | undefined;
  /**
   * Of an interpreter that goes on after it: what marks the call's end in its streams, what tracebacks name it, and the
   * environment variables that it has until its end; default: the program's end is the call's.
   */
  readonly call?:
    | { readonly token: string; readonly name: string; readonly variables: Readonly<Record<string, string>> }
    | undefined;
  /** Whether everything in `folder` is removed first. Default false. */
  readonly empties?: boolean | undefined;
}

/** The folder inside the sandbox that holds the code and its files and is the program's working directory. */
export const workFolder = "/work";

/** Exit code of a runner that did not get a job it can run; the reason is on stderr after `glovebox runner: `. */
export const runnerFailedExitCode = 125;

/**
 * The job as the runner reads it, in pieces to be written one after another; what is written after them is first the bytes
 * of the job's data, then the program's standard input.
 *
 * The length of the header in decimal and a newline, the header in JSON, the bytes of the files, the bytes of the
 * compiled files.
 */
export function encodeJob(job: RunnerJob): readonly Uint8Array[] {
  const compiled = job.files.flatMap(({ path, compiled: content }) =>
    content === undefined ? [] : [{ path, content }],
  );
  const sizes = (files: readonly RunnerFile[]): readonly { readonly path: string; readonly size: number }[] =>
    files.map(({ path, content }) => ({ path, size: content.length }));
  // Only strings, numbers, lists and records: the Python runner reads the header as a Python expression.
  const header = Buffer.from(
    JSON.stringify({
      version: 1,
      main: job.main,
      arguments: job.arguments,
      environment: job.environment ?? {},
      folder: job.folder ?? workFolder,
      working_directory: job.workingDirectory ?? "",
      untrusted: job.untrusted ?? [],
      empties: job.empties === true ? 1 : 0,
      ...job.call,
      files: sizes(job.files),
      compiled: sizes(compiled),
      data: (job.data ?? []).map(({ path, sizeBytes }) => ({ path, size: sizeBytes })),
    }),
  );
  return [
    Buffer.from(`${header.length}\n`),
    header,
    ...job.files.map(({ content }) => content),
    ...compiled.map(({ content }) => content),
  ];
}

/** Up to this size a job is written in one piece: each takes its own way through the engine. */
const onePieceBytes: number = 64 * kibibyte;

/**
 * Everything that is written to a runner: its job, and then what the program itself reads.
 * @throws what reading the data throws
 */
export async function* runnerInput(
  job: RunnerJob,
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = encodeJob(job);
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= onePieceBytes) yield Buffer.concat(pieces);
  else yield* pieces;
  for (const file of job.data ?? []) yield* file.read();
  yield* stdin;
}
