import path from "node:path";
import { engineChoices, ociRuntimeExample } from "../config/engine-words.ts";
import type { Command } from "commander";
import { readHost } from "../config/host/host.ts";
import { invalidField, GloveboxError } from "../errors/glovebox-error.ts";
import { openCalls } from "./open-calls.ts";
import { executeCodeContract, type ExecuteResponse } from "../operations/execute-contract.ts";
import { ProgramOutput, type CommandIo, type SetExitCode } from "./command-io.ts";
import { describeError } from "./output/error-report.ts";
import { LiveEvents } from "./output/live-events.ts";
import { exitCodeOf } from "./exit-code.ts";
import { nameOption, quietOption } from "./output/option-words.ts";
import { escapeLine } from "./output/terminal-text.ts";
import { saveArtifacts, readNamed } from "../transfer/local-files.ts";
import { inlineFiles } from "./inline-files.ts";
import { requestOfOptions, type RunOptions } from "./run-options.ts";
import { buffer } from "node:stream/consumers";
import { invalidUtf8Offset } from "../base/streams/utf8.ts";
import { checkCode, maxCodeBytes } from "../policy/request/requested-program.ts";
import { codingLine } from "../languages/python.ts";

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `glovebox run`: one program in a fresh sandbox. */
export function addRunCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("run")
    .argument("[file]", 'the program; "-" reads it from standard input; with --project a command, after --')
    .argument("[args...]", "arguments of the program, after --")
    .option("-c, --code <code>", "the program itself, instead of a file")
    .option("--project <folder>", "run a command in this project, whose files it can change")
    .option("--read-only", "with --project: the command cannot change the project")
    .option(
      "--setup <line>",
      'with --project: shell line that installs dependencies first (default: by the lockfile; "": nothing)',
    )
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option(
      "--language <language>",
      "python, javascript or typescript, or py, js, ts (default: detected from the file extension or first line; python for -c and -)",
    )
    .option("--runtime <name>", "node or bun, for JavaScript and TypeScript (default: node)")
    .option("--timeout <duration>", "time for the program, such as 30s or 2m (default: 30s)")
    .option("--memory <size>", "memory, such as 512m or 1g (default: 512m)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--pids <number>", "processes and threads together (default: 100)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--env <name=value>", "environment variable; may be repeated", repeated, [])
    .option("--secret <name>", "configured secret to pass as a variable; NAME=VARIABLE to rename it", repeated, [])
    .option(
      "--file <path>",
      "read-only file to place next to the program, up to --disk in all (for a server: 16 MiB); may be repeated",
      repeated,
      [],
    )
    .option("--artifact <glob>", "result files to return with --json or to save; may be repeated", repeated, [])
    .option("--output <folder>", "save result files there: those of --artifact, else all files the program created")
    .option("--image <reference>", "container image")
    .option("--network <policy>", "none, registries, open, or comma-separated domains (default: none)")
    .option(
      "--packages <list>",
      "packages to install first, comma-separated (lodash@4.17.21,zod), or none (default: auto, the imported ones)",
    )
    .option("--oci-runtime <name>", `OCI runtime of the engine, such as ${ociRuntimeExample}`)
    .option(
      "--min-isolation <level>",
      "preload, namespaces, container or vm: refuse engines with weaker isolation (default: namespaces)",
    )
    .option(...nameOption)
    .option(...quietOption)
    .option("--json", "print exactly one JSON object, the response, instead of the program's output")
    .addHelpText(
      "after",
      "\nWith --project the limits are those of environments: 2m, 2g, 2 CPUs, 512 processes." +
        "\nExit code: the program's own; 124 timed out, 137 out of memory, 125 Glovebox failed, 2 wrong usage.",
    )
    .action(async (file: string | undefined, args: readonly string[], options: RunOptions) => {
      setExitCode(await (options.project === undefined ? run : inProject)(options, { file, args }, io));
    });
}

interface Given {
  readonly file: string | undefined;
  readonly args: readonly string[];
}

async function inProject(options: RunOptions, { file, args }: Given, io: CommandIo): Promise<number> {
  const { runInProject } = await import("./run-in-project.ts");
  return runInProject(options, file === undefined ? args : [file, ...args], io);
}

async function run(options: RunOptions, given: Given, io: CommandIo): Promise<number> {
  for (const name of ["setup", "readOnly"] as const) {
    if (options[name] !== undefined)
      throw invalidField(name === "setup" ? "--setup" : "--read-only", "--project beside it", undefined);
  }
  const source = await readSource(options, given, io);
  const request = requestOfOptions(options, source);
  const outputs = { stdout: new ProgramOutput(io.stdout), stderr: new ProgramOutput(io.stderr) };
  const live = new LiveEvents(io.stderr, {
    isQuiet: options.quiet,
    onOutput: (output) => (options.json === true ? undefined : outputs[output.stream].write(output.bytes)),
  });
  let response: ExecuteResponse;
  {
    await using calls = await openCalls();
    using events = live;
    const stdin = source.readsStdin ? undefined : io.stdin;
    if (calls.isRemote && options.file.length > 0) request["context_files"] = await inlineFiles("--file", options.file);
    response = await calls.send(executeCodeContract, request, { onEvent: events.onEvent, stdin, signal: io.signal });
  }
  const saved = options.output === undefined ? [] : await save(response, options.output);
  if (options.json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
  else {
    if (options.quiet !== true) io.stderr.write(saved.map((line) => `${escapeLine(`glovebox: ${line}`)}\n`).join(""));
    live.warnAll(response);
    if (response.error !== undefined && response.outcome !== "cancelled")
      io.stderr.write(describeError(response.error, { stream: io.stderr, shown: live.shown }));
  }
  return typeof io.signal.reason === "number" ? io.signal.reason : exitCodeOf(response);
}

/** Saves the files that the program left; reports what was done. */
async function save({ artifacts = [] }: ExecuteResponse, folder: string): Promise<readonly string[]> {
  const { saved, warnings } = await saveArtifacts(artifacts, path.resolve(folder), {
    platform: readHost().platform,
    nowMs: Date.now(),
  });
  const files = saved.length === 1 ? "1 file" : `${saved.length} files`;
  return [`saved ${files} in ${folder}${saved.length === 0 ? "" : `: ${saved.join(", ")}`}`, ...warnings];
}

interface Source {
  readonly code: string;
  readonly file: string | null;
  readonly args: readonly string[];
  /** Whether the program itself came over standard input, which is then used up. */
  readonly readsStdin: boolean;
}

async function readSource({ code }: RunOptions, { file, args }: Given, io: CommandIo): Promise<Source> {
  if (code !== undefined) {
    const programArgs = file === undefined ? args : [file, ...args];
    return { code, file: null, args: programArgs, readsStdin: false };
  }
  if (file === undefined) throw invalidField("FILE", 'a file, "-" for standard input, or -c CODE', undefined);
  const program = await readProgram({ file, io });
  const isInput = file === "-";
  return { code: program, file: isInput ? null : file, args, readsStdin: isInput };
}

/** A program as the command line names it: a file's path, or `-`, which is standard input. */
interface ProgramFile {
  /** As it was typed. */
  readonly file: string;
  readonly io: Pick<CommandIo, "stdin">;
}

/**
 * The program's text. Line ends and a byte order mark stay as they are.
 * @throws INVALID_REQUEST naming the file: it cannot be read, is over `maxCodeBytes`, is empty, or is not UTF-8
 */
export async function readProgram({ file, io }: ProgramFile): Promise<string> {
  const bytes = file === "-" ? await buffer(io.stdin) : await readBytes(file);
  const name = file === "-" ? "standard input" : JSON.stringify(file);
  if (bytes.length > maxCodeBytes) throw tooLong(file);
  const offset = invalidUtf8Offset(bytes);
  if (offset !== null) throw notUtf8(name, bytes, offset);
  if (bytes.every((byte) => byte <= 0x20)) throw invalidField("FILE", "a program", `${file}, which is empty`);
  // The operation refuses what the program's language does not allow.
  return checkCode(bytes, "javascript");
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    const bytes = await readNamed(file, maxCodeBytes);
    if (bytes === null) throw tooLong(file);
    return bytes;
  } catch (error) {
    if (error instanceof GloveboxError) throw error;
    const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? "which does not exist" : "which cannot be read";
    throw invalidField("FILE", "a program that can be read", `${file}, ${reason}`, error);
  }
}

function tooLong(file: string): GloveboxError {
  return invalidField("FILE", `a program of at most ${maxCodeBytes} bytes`, `${file}, which has more`);
}

/**
 * Programs travel as text, and their bytes are not changed: so one in another encoding is refused, also where Python would read
 * it by its coding line.
 */
function notUtf8(name: string, bytes: Uint8Array, offset: number): GloveboxError {
  const line = bytes.subarray(0, offset).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 1);
  const byte = `0x${(bytes[offset] ?? 0).toString(16).toUpperCase()}`;
  const [reason, help] = encodingOf(bytes);
  return new GloveboxError(
    "INVALID_REQUEST",
    `FILE: ${name} is not UTF-8, as programs must be: byte ${byte} in line ${line}${reason}.`,
    {
      suggestion: `Save it as UTF-8 in an editor, or convert it: iconv -f ${help}. Files of --file keep their bytes.`,
      context: { field: "FILE" },
    },
  );
}

/** What the first bytes or Python's coding line (PEP 263) say of the encoding, and the rest of a command that converts it. */
function encodingOf(bytes: Uint8Array): readonly [reason: string, help: string] {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  if (mark === "fffe" || mark === "feff") return [" (its byte order mark says UTF-16)", "UTF-16 -t UTF-8"];
  const named = codingLine(Buffer.from(bytes.subarray(0, 2000)).toString("latin1"));
  if (named === null) return ["", "ISO-8859-1 -t UTF-8 (if it is Latin-1)"];
  return [` (its coding line says ${named})`, `${named} -t UTF-8; then let its coding line say utf-8`];
}
