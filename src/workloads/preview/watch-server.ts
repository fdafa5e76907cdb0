import type { Logger } from "../../base/logger.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { connectToProgram } from "../place/background/connect-to-program.ts";
import type { LaunchedProcess } from "../place/background/background-processes.ts";
import type { CommandSandbox } from "../../sandbox/sandbox-command.ts";
import { likeliestFirst, listeningPorts } from "./listening-ports.ts";
import { silenceOf } from "./preview-problems.ts";
import type { PreviewSpec } from "./preview-spec.ts";
import { watchPort } from "./watch-port.ts";

export interface ServerWatch {
  readonly id: string;
  readonly sandbox: CommandSandbox;
  /** Null: it has ended. */
  readonly program: () => LaunchedProcess | null;
  /** Its newest output, in which programs say where they listen. */
  readonly logs: () => string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onAnswer: (port: number) => void;
  readonly onSilence: (problem: GloveboxError) => void;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

/** Watches where a preview's command answers, until the signal; the end of the watch by anything else is in the log. */
export function watchServer({ port, isPortNamed }: PreviewSpec, watch: ServerWatch): void {
  const { sandbox, signal, logger, id, monotonicMs } = watch;
  let hasAnswered = false;
  const watching = watchPort({
    ...{ port, isNamed: isPortNamed, signal, monotonicMs },
    connect: (each, mine) => connectToProgram(watch.program(), each, mine),
    listening: async (mine) => likeliestFirst(await portsOf(sandbox, mine), watch.logs()),
    onAnswer: (each) => {
      hasAnswered = true;
      watch.onAnswer(each);
    },
    onSilence: (state, silent, others) => watch.onSilence(silenceOf({ state, port: silent, others, hasAnswered })),
  });
  watching.catch((error: unknown) => {
    logger.error({ sandbox: id, err: error }, "the port of a preview is not watched any more");
  });
}

/** A sandbox that has no room for one more program, or whose program spoils the answer, does not tell. */
async function portsOf(sandbox: CommandSandbox, signal: AbortSignal): Promise<readonly number[]> {
  try {
    return await listeningPorts(sandbox, { signal });
  } catch {
    signal.throwIfAborted();
    return [];
  }
}
