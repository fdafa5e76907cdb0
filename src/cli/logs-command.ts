import { untilWritable } from "../base/streams/chunks.ts";
import { readLogsContract, type ReadLogsResponse, type ReadLogsRequest } from "../operations/logs-contract.ts";
import type { CommandIo, OutputStream, SetExitCode } from "./command-io.ts";
import { escapeControls, escapeLine } from "./output/terminal-text.ts";
import { Option, type Command } from "commander";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { followLog } from "../library/objects/follow-log.ts";
import { logStreams } from "../operations/contract/wire-values.ts";
import { listSandboxesContract } from "../operations/sandboxes-contract.ts";
import { openCalls, type CommandCalls } from "./open-calls.ts";
import { sandboxWords } from "./output/option-words.ts";
import { parseDuration } from "../base/duration.ts";

export type LogEntry = ReadLogsResponse["entries"][number];

/** Prints an entry: a program's line to the stream that it came from, Glovebox's own lines to stderr. */
export async function printEntry(entry: LogEntry, { stdout, stderr }: CommandIo): Promise<void> {
  const { stream, message, partial, dropped } = entry;
  if (stream === "system" || dropped !== undefined) return put(stderr, `glovebox: ${escapeLine(message)}\n`);
  const target = stream === "stdout" ? stdout : stderr;
  const text = target.isTTY === true ? escapeControls(message) : message;
  return put(target, partial === true ? text : `${text}\n`);
}

/** Prints an entry as one line of JSON. */
export function printJson(entry: LogEntry, { stdout }: CommandIo): Promise<void> {
  return put(stdout, `${JSON.stringify(entry)}\n`);
}

interface LogsOptions {
  readonly follow?: boolean;
  readonly offset?: string;
  readonly since?: string;
  readonly stream?: ReadLogsRequest["stream"];
  readonly json?: boolean;
}

/** `glovebox logs`: what the programs of a sandbox wrote, line by line. */
export function addLogsCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("logs")
    .argument("[id]", `${sandboxWords}; or the sandbox_id of a result; default: the only sandbox there is`)
    .option("-f, --follow", "follow the log until it ends")
    .option("--offset <number>", "start at this entry number, as --json shows it (default: 0)")
    .option("--since <time>", "only entries since then: 10m for ten minutes ago, or 2026-11-22T21:30:00Z")
    .addOption(new Option("--stream <stream>", "only this stream (default: all)").choices([...logStreams]))
    .option("--json", "print each entry as one line of JSON")
    .addHelpText(
      "after",
      "\nThe program's stdout goes to stdout, its stderr and Glovebox's messages (glovebox: ...) to stderr. Works for sandboxes of all your Glovebox processes, or of the server in GLOVEBOX_URL. Logs stay for a while after a sandbox ends, but not longer than their process; with a server, -f resumes after the last entry if the connection breaks." +
        "\nExit code: 0; 130 when -f is interrupted, 125 if there is no such log or Glovebox failed, 2 wrong usage.",
    )
    .action(async (given: string | undefined, { follow, offset, since, stream, json }: LogsOptions) => {
      const [from, sinceMs] = [parseOffset(offset), parseSince(since, Date.now())];
      await using calls = await openCalls();
      const id = given ?? (await onlySandbox(calls, io.signal));
      const print = json === true ? printJson : printEntry;
      for await (const entry of entriesOf(calls, { id, stream }, { from, follow, signal: io.signal })) {
        if (sinceMs === undefined || Date.parse(entry.timestamp) >= sinceMs) await print(entry, io);
      }
      setExitCode(0);
    });
}

/** An offset as typed. @throws INVALID_REQUEST naming the option */
export function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw invalidField("--offset", "a whole number such as 120", text);
  return Number(text);
}

/**
 * A time as typed, in milliseconds since the epoch: a duration ago (`10m`), or a date (`2026-11-22T21:30:00Z`).
 * @throws INVALID_REQUEST naming the option
 */
export function parseSince(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const date = Date.parse(text);
    if (Number.isNaN(date)) throw invalidField("--since", "a time such as 2026-11-22T21:30:00Z, or 10m", text);
    return date;
  }
  return nowMs - parseDuration(text, "--since");
}

async function put(target: OutputStream, text: string): Promise<void> {
  if (target.destroyed) return;
  if (!target.write(text)) await untilWritable(target);
}

/** @throws NOT_FOUND if there is none, INVALID_REQUEST naming the candidates if there are several */
async function onlySandbox(calls: CommandCalls, signal: AbortSignal): Promise<string> {
  const { sandboxes: all } = await calls.send(listSandboxesContract, {}, { signal });
  // Another user's log is out of reach, and the log of a process that is gone is gone too.
  const sandboxes = all.filter(({ owner }) => owner === "living");
  const [first, second] = sandboxes;
  if (first !== undefined && second === undefined) return first.sandbox_id;
  if (first === undefined) throw new GloveboxError("NOT_FOUND", "There is no live sandbox; name one that has ended.");
  const there = sandboxes.map((row) => row.sandbox_id).join(", ");
  throw new GloveboxError("INVALID_REQUEST", `ID: expected the id of one of these sandboxes: ${there}.`, {
    suggestion: "Name the one whose log you want.",
    context: { field: "ID" },
  });
}

/** There is no more than what was read so far. */
function logGone(id: string, cause: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The log of ${id} is gone, because its process has ended.`, {
    suggestion: "The last entries may be missing from what was printed.",
    cause,
  });
}

function entriesOf(
  calls: CommandCalls,
  request: Pick<ReadLogsRequest, "id" | "stream">,
  options: Parameters<typeof followLog>[1],
): AsyncIterable<LogEntry> {
  let { id } = request;
  let hasRead = false;
  return followLog<LogEntry>(async (offset, waitSeconds) => {
    const wanted = { ...request, id, offset, wait_seconds: waitSeconds };
    const page = await calls.send(readLogsContract, wanted, { signal: options.signal }).catch((error: unknown) => {
      const isGone = hasRead && error instanceof GloveboxError && error.errorType === "NOT_FOUND";
      throw isGone ? logGone(id, error) : error;
    });
    hasRead = true;
    id = page.container_id;
    return { entries: page.entries, nextOffset: page.next_offset, isOver: page.is_over };
  }, options);
}
