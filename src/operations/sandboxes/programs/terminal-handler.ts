import { openTerminal, type OpenTerminal } from "../../../sandbox/terminal/open-terminal.ts";
import type { TerminalSize } from "../../../sandbox/terminal/terminal-size.ts";
import type { OperationCall } from "../../contract/operation-call.ts";
import { handle } from "../../handling/handler.ts";
import { reachSandbox } from "../reach-sandbox.ts";
import { readCommand, readProgram } from "./exec-handler.ts";
import { followProgram } from "./follow-program.ts";
import { openTerminalContract } from "./exec-contract.ts";

const notices = {
  python: null,
  script: "The terminal keeps its current size: following yours needs python3 in the sandbox.",
  none: "There is no terminal, because this sandbox has neither python3 nor script: editors and job control do not work.",
};

/** A program in its own terminal inside a live sandbox. */
export const openTerminalHandler = handle(openTerminalContract, async (platform, request, call) => {
  const { environment, workingDirectory } = readProgram(request);
  const command = request.command === undefined ? null : readCommand(request.command);
  const size = { columns: request.columns, rows: request.rows };
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(openTerminalContract, request, call);
  const { sandbox } = place;
  const terminal = await openTerminal(
    sandbox,
    { command, size, workingDirectory, environment: { TERM: request.term ?? "xterm", ...environment } },
    { signal: call.signal },
  );
  await call.onEvent?.({ type: "terminal", isHeld: terminal.holder !== "none" });
  const notice = notices[terminal.holder];
  if (notice !== null) await call.onEvent?.({ type: "warning", message: notice });
  void followSizes(terminal, call.sizes);
  const exitCode = await followProgram(terminal.program, {
    input: typedInto(terminal, call),
    signal: call.signal,
    onOutput: (chunk) => call.onEvent?.({ type: "output", ...chunk }),
  });
  return { sandbox_id: sandbox.id, exit_code: exitCode, held_by: terminal.holder };
});

async function* typedInto(terminal: OpenTerminal, { stdin }: OperationCall): AsyncGenerator<Uint8Array> {
  if (stdin !== undefined) for await (const bytes of stdin) yield terminal.type(bytes);
}

async function followSizes(terminal: OpenTerminal, sizes: AsyncIterable<TerminalSize> | undefined): Promise<void> {
  if (sizes === undefined) return;
  const { stdin } = terminal.program;
  for await (const size of sizes) {
    const bytes = terminal.resize(size);
    // Whole frames, each in a single write, so that they do not split those of the input.
    if (bytes !== null && !stdin.writableEnded && !stdin.destroyed) stdin.write(bytes);
  }
}
