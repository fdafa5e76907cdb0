import path from "node:path";
import { engineChoices, ociRuntimeExample } from "../../config/engine-words.ts";
import type { Command } from "commander";
import { readHost } from "../../config/host/host.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { openCalls } from "../open-calls.ts";
import { executeCodeContract, type ExecuteResponse } from "../../operations/execute/execute-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { describeError } from "../output/error-report.ts";
import { LiveEvents } from "../output/live-events.ts";
import { exitCodeOf } from "../exit-code.ts";
import { nameOption, quietOption } from "../output/name-option.ts";
import { ProgramOutput } from "../output/program-output.ts";
import { escapeLine } from "../output/terminal-escape.ts";
import { saveArtifacts } from "../../transfer/save-artifacts.ts";
import { inlineFiles } from "./inline-files.ts";
import { readProgram } from "./read-program.ts";
import { requestOfOptions, type RunOptions } from "./run-options.ts";

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
