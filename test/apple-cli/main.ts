import { appendFileSync } from "node:fs";
import path from "node:path";
import { commandTable } from "./commands/table.ts";
import { daemonState, versionLine } from "./commands/system.ts";
import type { Context } from "./context.ts";
import { Containers } from "./docker/containers.ts";
import { DockerApi } from "./docker/docker-api.ts";
import { ImageStore } from "./images/image-store.ts";
import { CommandError, ConnectionError, NotImitated, ProgramEnd, SeveralErrors } from "./output/command-error.ts";
import { parseCall, type Call } from "./parser/parse-call.ts";
import { UsageError } from "./parser/usage-error.ts";
import { CommandSignals } from "./program/signals.ts";
import { claimFault } from "./state/faults.ts";
import { readSettings, type Settings } from "./state/settings.ts";

const folder = path.dirname(path.dirname(process.argv[1] ?? ""));
const settings = readSettings(folder);
const words = process.argv.slice(2);

/** Parts of the output that are not written yet. */
const written: Promise<void>[] = [];
const write = (stream: NodeJS.WriteStream, text: string): void => {
  written.push(new Promise((resolve) => stream.write(text, () => resolve())));
};
const say = {
  out: (line: string): void => write(process.stdout, `${line}\n`),
  err: (line: string): void => write(process.stderr, `${line}\n`),
};

const signals = new CommandSignals(settings.version, (line) => say.err(line));

/** Commands about the daemon that do not talk to it. */
const withoutDaemon = new Set(["system start", "system stop", "system status", "system version"]);

/** What the daemon was asked for when it could not be reached. */
const outerTexts: Readonly<Record<string, string>> = { list: "failed to list containers" };

/** The command's message for a daemon that takes too long; the name of the request is a guess. */
function lateError(command: string): CommandError {
  const late = new CommandError("timeout", `XPC timeout for request to com.apple.container.apiserver/${command}`);
  const outer = outerTexts[command];
  return outer === undefined ? late : new CommandError("internalError", outer, late);
}

/** Faults that the command itself causes. */
async function meetFault({ fault, folder: place, signals }: Context, command: string): Promise<void> {
  if (fault === "hang") {
    signals.hang();
    await new Promise(() => setInterval(() => undefined, 60_000));
  }
  if (fault === "late") throw lateError(command);
  if (withoutDaemon.has(command) || daemonState({ fault, folder: place }) === "running") return;
  throw new ConnectionError("invalid", outerTexts[command]);
}

function contextOf(call: Extract<Call, { kind: "run" }>, { scope, dockerHost }: Settings): Context {
  const api = new DockerApi(dockerHost);
  return {
    settings,
    folder,
    options: call.options,
    fault: claimFault(folder, call.command),
    api,
    containers: new Containers(api, scope, folder),
    images: new ImageStore(api, scope),
    variables: process.env,
    cwd: process.cwd(),
    say,
    signals,
  };
}

async function perform(): Promise<void> {
  const call = parseCall(settings.version, words);
  if (call.kind === "version") say.out(versionLine("container CLI", settings.version));
  else if (call.kind === "help") say.out(`USAGE: container ${call.usage}`);
  else if (call.kind === "plugin") {
    const isUp = daemonState({ fault: claimFault(folder, call.name), folder }) === "running";
    const text = isUp
      ? `Plugin 'container-${call.name}' not found.`
      : "Plugins are unavailable. Start the container system services and retry:\n\n    container system start\n";
    throw new UsageError(text, { usage: "[--debug] <subcommand>", command: "" });
  } else {
    const work = commandTable[call.command];
    const context = contextOf(call, settings);
    await meetFault(context, call.command);
    if (work === undefined) throw new NotImitated(`${call.command} is not imitated`);
    await work(context);
  }
}

/** Prints what went wrong; returns the exit code of the command. */
function report(error: unknown): number {
  if (error instanceof ProgramEnd) return error.exitCode;
  if (error instanceof UsageError) {
    const help = error.help === undefined ? [] : [`Help:  ${error.help}`];
    const pointer = `  See 'container${error.command === "" ? "" : ` ${error.command}`} --help' for more information.`;
    say.err([`Error: ${error.message}`, ...help, `Usage: container ${error.usage}`, pointer].join("\n"));
    return 64;
  }
  if (error instanceof CommandError) say.err(`Error: ${error.shown(settings.version)}`);
  else if (error instanceof SeveralErrors) say.err(`Error: ${error.message}`);
  else {
    say.err(`stand-in for Apple's container: ${error instanceof Error ? (error.stack ?? "") : String(error)}`);
    return 70;
  }
  return 1;
}

async function main(): Promise<number> {
  appendFileSync(path.join(folder, "calls.jsonl"), `${JSON.stringify({ pid: process.pid, words })}\n`);
  process.stdout.on("error", () => process.exit(1));
  let code = 0;
  try {
    await perform();
  } catch (error) {
    code = report(error);
  }
  await Promise.all(written);
  return code;
}

void main().then((code) => process.exit(code));
