import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ProcessSignal } from "../engine.ts";
import { numberOf } from "./kill-exec.ts";
import type { LiveExec } from "./live-execs.ts";
import { runHelper } from "./run-helper.ts";
import type { RunningContainer } from "./running-container.ts";

/** How long sending may take: a second on a loaded machine. */
const sendMs = 10_000;

/** Sends a signal to the first process of a concurrent program, as its own user; nothing when it has ended. */
export async function signalExec(container: RunningContainer, exec: LiveExec, signal: ProcessSignal): Promise<void> {
  await container.execs.alone(async () => {
    if (!container.execs.has(exec)) return;
    const number = await numberOf(exec);
    if (!container.execs.has(exec)) return;
    if (number === null || !(await send(container, exec.user, { signal, number }))) {
      if (container.execs.has(exec)) throw notSent(container, signal);
    }
  });
}

async function send(
  container: RunningContainer,
  user: string,
  { signal, number }: { readonly signal: ProcessSignal; readonly number: number },
): Promise<boolean> {
  const exitCode = await runHelper(container, {
    command: ["sh", "-c", 'kill -s "$1" "$2"', "sender", signal.slice("SIG".length), String(number)],
    user,
    // It holds up every other start meanwhile.
    maxMs: sendMs,
    late: () => notSent(container, signal),
  });
  return exitCode === 0;
}

function notSent({ engine }: RunningContainer, signal: ProcessSignal): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `${signal} could not be sent to a program in a container.`, {
    suggestion: "Retry, or end the program.",
    context: { engine: engine.name, signal },
  });
}
