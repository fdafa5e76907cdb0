import type { Command } from "commander";
import { formatDuration } from "../../base/duration.ts";
import { readHost } from "../../config/host/host.ts";
import { toGloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { wrapServerContract, type WrapServerResponse } from "../../operations/wrap/wrap-server-contract.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { exitCodeOf, exitCodeOfError, exitCodes } from "../exit-code.ts";
import { describeError } from "../output/error-report.ts";
import { plainLog } from "../output/plain-log.ts";
import { PassageEnd, passProtocol, type ProtocolPassage } from "./pass-protocol.ts";
import { addWrapOptions, requestOfWrap, type WrapOptions } from "./wrap-options.ts";

/** `glovebox mcp wrap`: runs any stdio MCP server in a sandbox (SPEC MC6). */
export function addMcpWrapCommand(mcp: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const command = mcp
    .command("wrap")
    .description("Run any MCP server that uses standard input and output in a sandbox, and pass the protocol through.")
    .argument(
      "<command...>",
      "what starts the server, after --: npx -y PACKAGE, uvx PACKAGE, python -m MODULE, or a program",
    );
  addWrapOptions(command)
    .addHelpText(
      "after",
      "\nPackages in the command are installed first, in a sandbox that can reach the registries; the server itself has no network unless --network says so." +
        "\nThe server ends 5 s after its client closes the input, and its sandbox with it." +
        "\nExit code: the server's own; 0 if it ended because its client disconnected, 124 timed out, 137 out of memory, 125 Glovebox failed, 2 wrong usage.",
    )
    .action(async (words: readonly string[], _: unknown, own: Command) => {
      const options = own.optsWithGlobals<WrapOptions & { readonly http?: string; readonly tools?: string }>();
      for (const name of ["http", "tools"] as const) {
        if (options[name] !== undefined) throw invalidField(`--${name}`, "to be left out of mcp wrap", options[name]);
      }
      setExitCode(await wrap(requestOfWrap(options, words, readHost().environment), io));
    });
}

async function wrap(request: Record<string, unknown>, io: CommandIo): Promise<number> {
  const checked = parseRequest(wrapServerContract, request);
  // Read from the start, to notice a client that leaves while Glovebox starts.
  const passage = passProtocol(io);
  // Loaded on use: the other commands start faster without it.
  const { openEmbeddedCaller } = await import("../../library/embedded-caller.ts");
  const { call, principal, close } = await openEmbeddedCaller({
    keepsWarm: false,
    openLog: () => plainLog(process.stderr),
  });
  try {
    const { stdin, signal, onEvent } = passage;
    const response = await call(wrapServerContract, checked, { principal, stdin, signal, onEvent });
    return conclude(response, passage, io);
  } catch (error) {
    if (!passage.signal.aborted) throw error;
    return endedBy(passage, io);
  } finally {
    await close();
  }
}

/** The verdict, on stderr; determines the exit code. */
function conclude(response: WrapServerResponse, passage: ProtocolPassage, io: CommandIo): number {
  passage.warnAll(response);
  io.stderr.write(passage.lastWords());
  const { outcome, error, exit_code: code, duration_ms: durationMs } = response;
  if (outcome === "cancelled") return endedBy(passage, io);
  if (error !== undefined) io.stderr.write(describeError(error, { stream: io.stderr, shown: passage.shown }));
  else
    io.stderr.write(`glovebox: the server ended by itself, exit code ${code}, after ${formatDuration(durationMs)}.\n`);
  return exitCodeOf(response);
}

/** Why this side ended it. */
function endedBy({ signal }: ProtocolPassage, io: CommandIo): number {
  const reason: unknown = signal.reason;
  if (!(reason instanceof PassageEnd)) {
    io.stderr.write("glovebox: the server was stopped by a signal.\n");
    return typeof reason === "number" ? reason : exitCodes.platformFailed;
  }
  if (reason.error === null) {
    io.stderr.write("glovebox: the server was ended because its client disconnected.\n");
    return 0;
  }
  const known = toGloveboxError(reason.error);
  io.stderr.write(describeError(known.toWire()));
  return exitCodeOfError(known);
}
