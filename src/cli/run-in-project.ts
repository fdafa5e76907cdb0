import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { runInProjectContract, type RunInProjectResponse } from "../operations/project-contract.ts";
import { ProgramOutput, type CommandIo } from "./command-io.ts";
import { exitCodeOf } from "./exit-code.ts";
import { openCalls } from "./open-calls.ts";
import { describeError } from "./output/error-report.ts";
import { LiveEvents } from "./output/live-events.ts";
import { escapeLine } from "./output/terminal-text.ts";
import {
  definedOnly,
  limitsOfOptions,
  parseNetworkOption,
  parseVariable,
  secretsOf,
  splitPackages,
  toShellLine,
  type RunOptions,
} from "./run-options.ts";

/** Options of `glovebox run` that only apply to a program without a project, by their names in the parser. */
const ofPrograms = ["code", "language", "runtime", "file", "artifact", "output"] as const;

/** `glovebox run --project`: a command in a project, in a fresh sandbox. Resolves to the exit code. */
export async function runInProject(options: RunOptions, command: readonly string[], io: CommandIo): Promise<number> {
  const request = requestOf(options, command);
  const outputs = { stdout: new ProgramOutput(io.stdout), stderr: new ProgramOutput(io.stderr) };
  const live = new LiveEvents(io.stderr, {
    isQuiet: options.quiet,
    onOutput: (output) => (options.json === true ? undefined : outputs[output.stream].write(output.bytes)),
  });
  let response: RunInProjectResponse;
  {
    await using calls = await openCalls();
    if (calls.isRemote) throw onThisMachine();
    using events = live;
    const call = { onEvent: events.onEvent, stdin: io.stdin, signal: io.signal };
    response = await calls.send(runInProjectContract, request, call);
  }
  if (options.json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
  else {
    live.warnAll(response);
    io.stderr.write(describe(response, live.shown));
  }
  return typeof io.signal.reason === "number" ? io.signal.reason : exitCodeOf(response);
}

/** @throws INVALID_REQUEST naming the option */
function requestOf(options: RunOptions, command: readonly string[]): Record<string, unknown> {
  const unwanted = ofPrograms.find((name) => options[name] !== undefined && options[name].length > 0);
  if (unwanted !== undefined)
    throw invalidField(`--${unwanted}`, "no such option together with --project", options[unwanted]);
  if (command.length === 0) throw invalidField("COMMAND", "what runs in the project, after --: -- npm test", undefined);
  const { packages } = options;
  if (packages === "auto") throw invalidField("--packages", "names of packages beside --project", packages);
  const limits = limitsOfOptions(options);
  return definedOnly({
    project_path: options.project,
    name: options.name,
    command: toShellLine(command),
    setup_command: options.setup,
    read_only: options.readOnly,
    packages: packages === undefined ? undefined : splitPackages(packages),
    environment: options.env.length > 0 ? Object.fromEntries(options.env.map(parseVariable)) : undefined,
    secrets: options.secret.length > 0 ? secretsOf(options.secret) : undefined,
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
    oci_runtime: options.ociRuntime,
    min_isolation: options.minIsolation,
  });
}

function describe(response: RunInProjectResponse, shown: ReadonlySet<string>): string {
  const { error, outcome, tooling_files: files } = response;
  const changed = files.map(({ path, change }) => `${escapeLine(`glovebox: ${change}: ${path}`)}\n`);
  const explained = error === undefined || outcome === "cancelled" ? "" : describeError(error, { shown });
  return `${changed.join("")}${explained}`;
}

function onThisMachine(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "run --project is for this machine, and GLOVEBOX_URL names a server.", {
    suggestion: "Run it on the server's machine, or unset GLOVEBOX_URL.",
  });
}
