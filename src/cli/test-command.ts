import path from "node:path";
import type { Command } from "commander";
import { engineChoices } from "../config/engine-words.ts";
import { readHost } from "../config/host/host.ts";
import { errorCode, GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { countsLine, runTestsContract, type RunTestsResponse } from "../operations/tests-contract.ts";
import { ProgramOutput, type CommandIo, type SetExitCode } from "./command-io.ts";
import { exitCodes } from "./exit-code.ts";
import { openCalls } from "./open-calls.ts";
import {
  pathAndCommand,
  toShellLine,
  definedOnly,
  limitsOfOptions,
  parseNetworkOption,
  parseVariable,
  type PathAndCommand,
} from "./run-options.ts";
import { describeError } from "./output/error-report.ts";
import { LiveEvents } from "./output/live-events.ts";
import { nameOption, quietOption } from "./output/option-words.ts";
import { escapeLine } from "./output/terminal-text.ts";
import { inlineFiles } from "./inline-files.ts";
import { saveFile } from "../transfer/local-files.ts";

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `glovebox test`: a project's tests in a fresh sandbox. */
export function addTestCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("test")
    .argument("[path]", "the project's folder (default: the current one)")
    .argument(
      "[command...]",
      "what runs the tests, after --; one argument is a shell line (default: what the project's files say)",
    )
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option(
      "--image <reference>",
      "container image (default: the devcontainer's, else chosen by command, lockfile or files)",
    )
    .option("--dockerfile", "build the project's own Dockerfile and test in its image, if the configuration allows it")
    .option("--setup <line>", 'shell line that installs dependencies first (default: by the lockfile; "": nothing)')
    .option("--timeout <duration>", "time for the tests, such as 30s or 10m (default: 5m)")
    .option("--memory <size>", "memory, such as 512m or 4g (default: 2g)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--env <name=value>", "environment variable; may be repeated", repeated, [])
    .option(
      "--trusted <path>",
      "file to copy over the project's copy just before the tests run; may be repeated",
      repeated,
      [],
    )
    .option(
      "--report-file <path>",
      "JUnit XML or CTRF file that the command writes to the project, for unknown test runners",
    )
    .option("--only <name>", "run only this test, named as in failures; may be repeated", repeated, [])
    .option("--include-ignored", "also copy node_modules and files that .gitignore excludes")
    .option("--network <policy>", "none, registries, open, or comma-separated domains (default: none)")
    .option("--min-isolation <level>", "namespaces, container or vm: refuse engines with weaker isolation")
    .option("--junit <file>", "write the whole report as JUnit XML")
    .option("--ctrf <file>", "write the whole report in the Common Test Report Format")
    .option(...nameOption)
    .option(...quietOption)
    .option("--json", "print exactly one JSON object, the response, instead of the tests' output")
    .addHelpText(
      "after",
      "\nExit code: 0 only for the verdict passed; else the command's own if it is not 0, 1 failed or nothing ran, 124 timed out, 137 out of memory, 125 could not run, 2 wrong usage.",
    )
    .action(async (path: string | undefined, command: readonly string[], options: TestOptions) => {
      setExitCode(await test({ ...pathAndCommand(program, path, command), options }, io));
    });
}

interface Wanted extends PathAndCommand {
  readonly options: TestOptions;
}

async function test({ path, command, options }: Wanted, io: CommandIo): Promise<number> {
  const request = requestOfTest(command, options);
  const outputs = { stdout: new ProgramOutput(io.stdout), stderr: new ProgramOutput(io.stderr) };
  const live = new LiveEvents(io.stderr, {
    isQuiet: options.quiet,
    onOutput: (output) => (options.json === true ? undefined : outputs[output.stream].write(output.bytes)),
  });
  let response: RunTestsResponse;
  {
    await using calls = await openCalls();
    request["project_path"] = calls.projectPath(path);
    if (calls.isRemote && options.trusted.length > 0)
      request["trusted_files"] = await inlineFiles("--trusted", options.trusted);
    using shown = live;
    response = await calls.send(runTestsContract, request, { onEvent: shown.onEvent, signal: io.signal });
  }
  await writeReport("--junit", options.junit, response.report?.junit);
  await writeReport("--ctrf", options.ctrf, response.report?.ctrf);
  if (options.json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
  else {
    live.warnAll(response);
    io.stderr.write(describe(response, live.shown));
  }
  return typeof io.signal.reason === "number" ? io.signal.reason : exitCodeOfTests(response);
}

async function writeReport(option: string, file: string | undefined, text: string | undefined): Promise<void> {
  if (file === undefined || text === undefined) return;
  try {
    await saveFile(path.resolve(file), text, { platform: readHost().platform, nowMs: Date.now() });
  } catch (error) {
    const reason = error instanceof GloveboxError ? error.message : errorCode(error);
    throw invalidField(option, "a file that can be written", `${file} (${reason})`, error);
  }
}

/** The verdict comes last: it is what people look for. */
function describe(response: RunTestsResponse, shown: ReadonlySet<string>): string {
  const { error, verdict, reason, outcome } = response;
  const explained = error === undefined || outcome === "cancelled" ? "" : describeError(error, { shown });
  const counts = `(${countsLine(response)})`;
  // An error says the reason already.
  const said = explained !== "" && error?.message.startsWith(reason) === true;
  return `${explained}${escapeLine(`glovebox: ${verdict}${said ? "" : `: ${reason}`} ${counts}`)}\n`;
}

function exitCodeOfTests({ verdict, exit_code: exitCode }: RunTestsResponse): number {
  switch (verdict) {
    case "passed":
      return 0;
    case "failed":
    case "nothing_ran":
      return exitCode === null || exitCode === 0 ? 1 : exitCode;
    case "timed_out":
      return exitCodes.timedOut;
    case "oom_killed":
      return exitCodes.outOfMemory;
    case "could_not_run":
      return exitCodes.platformFailed;
  }
}

/** Options of `glovebox test` as the parser leaves them. */
interface TestOptions {
  readonly name?: string;
  readonly quiet?: boolean;
  readonly engine?: string;
  readonly image?: string;
  readonly dockerfile?: boolean;
  readonly setup?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly disk?: string;
  readonly env: readonly string[];
  readonly trusted: readonly string[];
  readonly only: readonly string[];
  readonly reportFile?: string;
  readonly includeIgnored?: boolean;
  readonly network?: string;
  readonly minIsolation?: string;
  readonly junit?: string;
  readonly ctrf?: string;
  readonly json?: boolean;
}

/** The request that the options ask for, without the project's folder; values are checked by the operation. @throws INVALID_REQUEST naming the option */
function requestOfTest(command: readonly string[], options: TestOptions): Record<string, unknown> {
  const reports = [options.ctrf === undefined ? [] : "ctrf", options.junit === undefined ? [] : "junit"].flat();
  return definedOnly({
    test_command: command.length === 0 ? undefined : toShellLine(command),
    dockerfile: options.dockerfile,
    name: options.name,
    setup_command: options.setup,
    environment: options.env.length > 0 ? Object.fromEntries(options.env.map(parseVariable)) : undefined,
    trusted_files: options.trusted.length > 0 ? options.trusted : undefined,
    only_tests: options.only.length > 0 ? options.only : undefined,
    report_file: options.reportFile,
    include_ignored: options.includeIgnored,
    reports: reports.length > 0 ? reports : undefined,
    limits: limitsOfOptions(options),
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
    min_isolation: options.minIsolation,
  });
}
