import { Option, type Command } from "commander";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { followLog } from "../../library/objects/programs/follow-log.ts";
import { logStreams } from "../../operations/contract/wire-values.ts";
import { readLogsContract, type ReadLogsRequest } from "../../operations/logs/read-logs-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import { parseOffset, parseSince } from "./log-options.ts";
import { printEntry, printJson, type LogEntry } from "./print-entry.ts";

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
    .description("Print the log of a server's sandbox: what its programs wrote, and what Glovebox says of it.")
    .argument("<id>", "id as glovebox ps shows it, or the sandbox_id of a result")
    .option("-f, --follow", "go on as the log grows, until it ends")
    .option("--offset <number>", "begin at this entry, as --json shows it (default: 0)")
    .option("--since <time>", "only what is not older: so long ago such as 10m, or 2026-11-22T21:30:00Z")
    .addOption(new Option("--stream <stream>", "only this stream (default: all)").choices([...logStreams]))
    .option("--json", "print each entry as one line of JSON")
    .addHelpText(
      "after",
      "\nThe program's stdout is printed to stdout, its stderr and what Glovebox says (glovebox: ...) to stderr. The server is that of GLOVEBOX_URL. Logs are there for a while after a sandbox's end; -f goes on behind the last entry when the connection breaks." +
        "\nExit code: 0; 130 when -f is interrupted, 125 when there is no such log, no server, or the platform failed, 2 wrong usage.",
    )
    .action(async (id: string, { follow, offset, since, stream, json }: LogsOptions) => {
      const [from, sinceMs] = [parseOffset(offset), parseSince(since, Date.now())];
      await using calls = await openCalls();
      if (!calls.isRemote) throw noServer();
      const print = json === true ? printJson : printEntry;
      for await (const entry of entriesOf(calls, { id, stream }, { from, follow, signal: io.signal })) {
        if (sinceMs === undefined || Date.parse(entry.timestamp) >= sinceMs) await print(entry, io);
      }
      setExitCode(0);
    });
}

function noServer(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "Logs are read from a server, and GLOVEBOX_URL names none.", {
    suggestion: "Set GLOVEBOX_URL to the address of `glovebox serve` (and GLOVEBOX_KEY to a key or its token).",
  });
}

function entriesOf(
  calls: CommandCalls,
  request: Pick<ReadLogsRequest, "id" | "stream">,
  options: Parameters<typeof followLog>[1],
): AsyncIterable<LogEntry> {
  let { id } = request;
  return followLog<LogEntry>(async (offset, waitSeconds) => {
    const wanted = { ...request, id, offset, wait_seconds: waitSeconds };
    const page = await calls.send(readLogsContract, wanted, { signal: options.signal });
    id = page.container_id;
    return { entries: page.entries, nextOffset: page.next_offset, isOver: page.is_over };
  }, options);
}
