import type { AddedProgram } from "../../sandbox/added-program.ts";
import { openTerminal } from "../../sandbox/open-terminal.ts";
import { sensibleSize } from "../../sandbox/terminal-size.ts";
import type { TerminalSize } from "../../engines/engine.ts";
import { handle } from "../handling/handler.ts";
import { reachSandbox } from "./reach-sandbox.ts";
import { readCommand } from "../handling/read-command.ts";
import { readProgram } from "./exec-handler.ts";
import { followProgram } from "./follow-program.ts";
import { openTerminalContract } from "./exec-contract.ts";

/** A program in its own terminal inside a live sandbox. */
export const openTerminalHandler = handle(openTerminalContract, async (platform, request, call) => {
  const { environment, workingDirectory, user } = readProgram(request);
  const command = request.command === undefined ? null : readCommand(request.command, "command");
  const size = { columns: request.columns, rows: request.rows };
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(openTerminalContract, { ...request, sandbox_id: place.id }, call);
  const { sandbox } = place;
  const program = await openTerminal(
    sandbox,
    { command, size, workingDirectory, user, environment: { TERM: request.term ?? "xterm", ...environment } },
    { signal: call.signal },
  );
  await call.onEvent?.({ type: "terminal" });
  void followSizes(program, call.sizes);
  const exitCode = await followProgram(program, {
    input: call.stdin,
    signal: call.signal,
    sandbox,
    onOutput: (chunk) => call.onEvent?.({ type: "output", ...chunk }),
  });
  return { sandbox_id: sandbox.id, exit_code: exitCode };
});

async function followSizes(program: AddedProgram, sizes: AsyncIterable<TerminalSize> | undefined): Promise<void> {
  if (sizes === undefined) return;
  for await (const size of sizes) program.resize?.(sensibleSize(size));
}
