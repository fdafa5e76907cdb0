import { GloveboxError } from "../../errors/glovebox-error.ts";
import { followLog } from "../../library/objects/programs/follow-log.ts";
import { readLogsContract } from "../../operations/logs/read-logs-contract.ts";
import type { PreviewRow } from "../../operations/previews/preview-schema.ts";
import { previewStatusContract, stopPreviewContract } from "../../operations/previews/previews-contract.ts";
import type { CommandIo } from "../command-io.ts";
import { exitCodes } from "../exit-code.ts";
import { printEntry, type LogEntry } from "../logs/print-entry.ts";
import type { CommandCalls } from "../open-calls.ts";
import { describeError } from "../output/error-report.ts";
import type { LiveEvents } from "../output/live-events.ts";
import { withOptionWords } from "../output/option-words.ts";
import { openInBrowser } from "./open-in-browser.ts";
import type { PreviewCommandOptions } from "./preview-options.ts";

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
export async function showPreview(
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
