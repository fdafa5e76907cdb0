import { kibibyte } from "../../base/bytes.ts";
import type { FileBytes } from "../../policy/request/context-files.ts";
import { runnerOption } from "../../engines/runner-option.ts";
import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import { readPackagedScript } from "../../base/packaged-script.ts";
import path from "node:path";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** A file that the runner places in the working folder, read-only, before the program starts. */
export interface RunnerFile {
  /** Relative path with `/` between its parts; the runner refuses `..`, absolute paths and duplicates. */
  readonly path: string;
  readonly content: Uint8Array;
  /** What Node loads in place of the content: the JavaScript that a TypeScript file was compiled to. */
  readonly compiled?: Uint8Array | undefined;
}

/** A file that is read while it is sent; nothing here looks at its content. */
interface RunnerData extends FileBytes {
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

/** What `runnerCommand` starts. */
interface RunnerStart {
  readonly toolchain: RuntimeName;
  /**
   * Name of the main file in the working folder; Node and Bun distinguish modules from CommonJS by its extension and
   * its code.
   */
  readonly mainFile: string;
  /** Text of the toolchain's runner, from `readRunner`. */
  readonly source: string;
  /** Path of the interpreter inside the sandbox; default: the toolchain's name, found on the PATH. */
  readonly interpreter?: string | undefined;
  /** Default `/work`. */
  readonly folder?: string | undefined;
  /** A folder of the runner's own, made by it and not there before; nothing is left of it, save under Node. Default `/tmp/.glovebox`. */
  readonly runnerFolder?: string | undefined;
  /** Whether a guard runs the runner, because there is no shell to place it; only for Python and Node. Default false. */
  readonly withoutShell?: boolean | undefined;
}

/** Argument vector that starts a runner, which then waits on standard input for the pieces of `encodeJob`. */
export function runnerCommand(asked: RunnerStart): readonly string[] {
  const { interpreter: usual, start } = runtimeOf(asked.toolchain);
  const { source, interpreter = usual, runnerFolder = "/tmp/.glovebox" } = asked;
  const main = `${asked.folder ?? workFolder}/${asked.mainFile}`;
  if (asked.withoutShell) return [interpreter, `${runnerOption}${source}`, main];
  return start({ interpreter, main, source, runnerFolder });
}

/** Text of the toolchain's runner, from `images/runners` of this package. */
export async function readRunner(toolchain: RuntimeName): Promise<string> {
  return readRunnerFile(runtimeOf(toolchain).runnerFile);
}

/** Text of a file there. */
export async function readRunnerFile(file: string): Promise<string> {
  return readPackagedScript(new URL(`../../../images/runners/${file}`, import.meta.url));
}

/** Variables that are lists of folders. */
const searchPaths: ReadonlySet<string> = new Set(["PYTHONPATH", "NODE_PATH"]);

/**
 * The variables as programs need them that run on the host itself, where a sandbox's folders have other names. `delimiter`
 * stands between folders in this machine's lists.
 */
export function withRealFolders(
  environment: Readonly<Record<string, string>>,
  sandbox: Pick<Sandbox, "folderOf">,
  delimiter: string = path.delimiter,
): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).map(([name, value]) => {
    if (name === "HOME") return [name, sandbox.folderOf(value)] as const;
    if (!searchPaths.has(name)) return [name, value] as const;
    const folders = value.split(":");
    const real = folders.map((folder) => sandbox.folderOf(folder));
    // Where the names are the same, the program's own values stay, whatever this machine uses.
    return [name, real.every((folder, index) => folder === folders[index]) ? value : real.join(delimiter)] as const;
  });
  return Object.fromEntries(entries);
}
