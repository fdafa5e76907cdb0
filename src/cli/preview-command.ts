import type { Command } from "commander";
import { engineChoices } from "../config/engine-words.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { openCalls, type CommandCalls } from "./open-calls.ts";
import { LiveEvents } from "./output/live-events.ts";
import { nameOption, quietOption, withOptionWords } from "./output/option-words.ts";
import {
  pathAndCommand,
  definedOnly,
  limitsOfOptions,
  parseNetworkOption,
  parseVariable,
  secretsOf,
  toShellLine,
} from "./run-options.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { followLog } from "../library/objects/follow-log.ts";
import { readLogsContract } from "../operations/logs-contract.ts";
import {
  previewStatusContract,
  stopPreviewContract,
  startPreviewContract,
  type PreviewRow,
  type StartPreviewResponse,
} from "../operations/previews-contract.ts";
import { exitCodes } from "./exit-code.ts";
import { printEntry, type LogEntry } from "./logs-command.ts";
import { describeError } from "./output/error-report.ts";
import { spawn } from "node:child_process";
import { browserCommand } from "./browser-command.ts";

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `glovebox preview`: a project's page, served from a sandbox until Ctrl-C. */
export function addPreviewCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("preview")
    .argument("[path]", "the project's folder (default: the current one)")
    .argument(
      "[command...]",
      "what serves the page, after --; one argument is a shell line (default: what the project says, such as its dev script)",
    )
    .option(
      "--port <port>",
      "port the command listens on; another one is followed (default: as the command or its tool says, else 3000)",
    )
    .option("--open", "open the page in the browser when it answers")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option("--image <reference>", "container image (default: chosen by command, lockfile or files)")
    .option(
      "--dockerfile",
      "build the project's own Dockerfile and serve from its image, if the configuration allows it",
    )
    .option("--setup <line>", 'shell line that installs dependencies first (default: by the lockfile; "": nothing)')
    .option("--timeout <duration>", "time until it ends by itself, such as 10m (default: 30m)")
    .option("--memory <size>", "memory, such as 512m or 4g (default: 1g)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--env <name=value>", "environment variable; may be repeated", repeated, [])
    .option("--secret <name>", "configured secret to pass as a variable; NAME=VARIABLE to rename it", repeated, [])
    .option("--include-ignored", "also copy node_modules and files that .gitignore excludes")
    .option("--network <policy>", "none, registries, open, or comma-separated domains (default: none)")
    .option("--min-isolation <level>", "namespaces, container or vm: refuse engines with weaker isolation")
    .option(...nameOption)
    .option(...quietOption)
    .option("--json", "print one JSON object per status change, instead of the output")
    .addHelpText(
      "after",
      "\nThe address and Glovebox's messages go to stderr, the command's output to stdout and stderr as it arrives." +
        "\nExit code: 0 after Ctrl-C; 1 if the command ended by itself, 124 at the time limit, 125 if it could not be started, 2 wrong usage.",
    )
    .action(async (path: string | undefined, command: readonly string[], options: PreviewCommandOptions) => {
      const given = pathAndCommand(program, path, command);
      const request = requestOfPreview(given.command, options);
      await using calls = await openCalls();
      request["project_path"] = calls.projectPath(given.path);
      const live = new LiveEvents(io.stderr, { isQuiet: options.quiet });
      const started = await startPreview(calls, request, { live, signal: io.signal });
      setExitCode(await showPreview(calls, started, { ...options, live }, io));
    });
}

interface ShowOptions extends Pick<PreviewCommandOptions, "json" | "open"> {
  /** What has shown the warnings of the start. */
  readonly live: LiveEvents;
}

/** Seconds that one request waits while it starts. */
const waitSeconds = 20;

/**
 * Prints the address once the preview answers, and its output as it comes, until Ctrl-C or its end; resolves to the
 * exit code.
 */
async function showPreview(
  calls: CommandCalls,
  started: PreviewRow,
  options: ShowOptions,
  io: CommandIo,
): Promise<number> {
  const { container_id: id } = started;
  try {
    const told = tellStatus(calls, started, options, io);
    // Awaited below, where any error is reported.
    told.catch(() => undefined);
    for await (const entry of entriesOf(calls, id, io.signal)) {
      // Starts and ends of sandboxes and runs are for logs; alerts are for people.
      const isOwn = entry.stream !== "system" || entry.alert !== undefined;
      if (isOwn && options.json !== true) await printEntry(entry, io);
    }
    await told;
    return await endOf(calls, id, options, io);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    await stop(calls, id);
    return 0;
  }
}

/** Reports each change, beginning with the start. */
async function tellStatus(
  calls: CommandCalls,
  started: PreviewRow,
  options: ShowOptions,
  io: CommandIo,
): Promise<void> {
  const { stderr, stdout, signal } = io;
  let row = started;
  if (row.status === "starting" && options.json !== true) stderr.write(`glovebox: starting: ${row.url}\n`);
  while (row.status === "starting" && !signal.aborted) {
    const request = { id: row.container_id, wait_seconds: waitSeconds };
    row = await calls.send(previewStatusContract, request, { signal });
  }
  if (options.json === true) stdout.write(`${JSON.stringify(row)}\n`);
  else options.live.warnAll({ ...row, warnings: row.warnings.map((each) => withOptionWords(each, null)) });
  if (row.status !== "running") return;
  if (options.json !== true) stderr.write(addressOf(row));
  if (options.open === true && !(await openInBrowser(row.url, process.platform)))
    stderr.write("glovebox: could not open a browser here.\n");
}

function addressOf({ url, direct_url: direct }: PreviewRow): string {
  return `glovebox: running: ${url}${direct === undefined ? "" : ` (directly: ${direct})`}\nglovebox: Ctrl-C ends it.\n`;
}

function entriesOf(calls: CommandCalls, id: string, signal: AbortSignal): AsyncIterable<LogEntry> {
  return followLog<LogEntry>(
    async (offset, seconds) => {
      signal.throwIfAborted();
      const page = await calls.send(readLogsContract, { id, offset, wait_seconds: seconds }, { signal });
      return { entries: page.entries, nextOffset: page.next_offset, isOver: page.is_over };
    },
    { follow: true, signal },
  );
}

/** What happened to a preview whose sandbox is gone. */
async function endOf(calls: CommandCalls, id: string, options: ShowOptions, io: CommandIo): Promise<number> {
  try {
    const row = await calls.send(previewStatusContract, { id }, { signal: io.signal });
    if (options.json === true) io.stdout.write(`${JSON.stringify(row)}\n`);
    else if (row.error !== undefined) io.stderr.write(describeError(row.error));
    return 1;
  } catch (error) {
    if (!isGone(error)) throw error;
    io.stderr.write("glovebox: the preview has ended: it reached its time limit or was stopped.\n");
    return exitCodes.timedOut;
  }
}

async function stop(calls: CommandCalls, id: string): Promise<void> {
  try {
    await calls.send(stopPreviewContract, { id }, {});
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "NOT_FOUND";
}

/** Opens an address in the user's browser; resolves to false if nothing here can. */
function openInBrowser(url: string, platform: NodeJS.Platform): Promise<boolean> {
  const child = spawn(...browserCommand(url, platform), { cwd: "/", stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}

/** Starts the preview and reports progress and warnings until its command runs. */
async function startPreview(
  calls: CommandCalls,
  request: Readonly<Record<string, unknown>>,
  { live: shown, signal }: { readonly live: LiveEvents; readonly signal: AbortSignal },
): Promise<StartPreviewResponse> {
  using live = shown;
  const started = await calls.send(startPreviewContract, request, { onEvent: live.onEvent, signal });
  live.warnAll({ ...started, warnings: started.warnings.map((each) => withOptionWords(each, null)) });
  return started;
}

/** Options of `glovebox preview` as the parser leaves them. */
interface PreviewCommandOptions {
  readonly port?: string;
  readonly open?: true;
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
  readonly secret: readonly string[];
  readonly includeIgnored?: boolean;
  readonly network?: string;
  readonly minIsolation?: string;
  readonly json?: boolean;
}

/** The request that the options ask for, without the project's folder; values are checked by the operation. @throws INVALID_REQUEST naming the option */
function requestOfPreview(command: readonly string[], options: PreviewCommandOptions): Record<string, unknown> {
  return definedOnly({
    command: command.length === 0 ? undefined : toShellLine(command),
    port: parsePort(options.port),
    setup_command: options.setup,
    name: options.name,
    environment: options.env.length > 0 ? Object.fromEntries(options.env.map(parseVariable)) : undefined,
    secrets: options.secret.length > 0 ? secretsOf(options.secret) : undefined,
    include_ignored: options.includeIgnored,
    limits: limitsOfOptions(options),
    network: parseNetworkOption(options.network),
    image: options.image,
    dockerfile: options.dockerfile,
    engine: options.engine,
    min_isolation: options.minIsolation,
    wait_seconds: 0,
  });
}

function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw invalidField("--port", "a port from 1 to 65535, such as 5173", text);
  return port;
}
