import { withinMs } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ProcessSignal } from "../engine.ts";
import type { ContainerLink } from "./container/container-link.ts";
import { numberOf } from "./exec-kill.ts";
import { startExec } from "./exec/exec.ts";
import type { LiveExec } from "./live-execs.ts";

/** How long sending may take: a second on a loaded machine. */
const sendMs = 10_000;

/** Sends a signal to the first process of a concurrent program, as its own user; nothing when it has ended. */
export async function signalExec(link: ContainerLink, exec: LiveExec, signal: ProcessSignal): Promise<void> {
  await link.execs.alone(async () => {
    if (!link.execs.has(exec)) return;
    const number = await numberOf(exec);
    if (!link.execs.has(exec)) return;
    if (number === null || !(await send(link, exec.user, { signal, number }))) {
      if (link.execs.has(exec)) throw notSent(link, signal);
    }
  });
}

async function send(
  link: ContainerLink,
  user: string,
  { signal, number }: { readonly signal: ProcessSignal; readonly number: number },
): Promise<boolean> {
  // Programs of its user can stop it; it holds up every other start meanwhile.
  const { exitCode } = await withinMs(
    sendMs,
    () => notSent(link, signal),
    async (late) => {
      const sender = await startExec(
        link,
        {
          command: ["sh", "-c", 'kill -s "$1" "$2"', "sender", signal.slice("SIG".length), String(number)],
          environment: {},
          workingDirectory: "/",
          user,
          isKilled: () => false,
          kill: () => Promise.resolve(),
        },
        { signal: late },
      );
      sender.stdin.end();
      // Says nothing; what a program writes in its name must not hold up the news of its end.
      void sender.output[Symbol.asyncIterator]().return?.();
      return sender.exit;
    },
  );
  return exitCode === 0;
}

function notSent({ dialect }: ContainerLink, signal: ProcessSignal): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `${signal} could not be sent to a program in a container.`, {
    suggestion: "Retry, or end the program.",
    context: { engine: dialect.name, signal },
  });
}
