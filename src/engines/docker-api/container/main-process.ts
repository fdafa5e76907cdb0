import { untilCancelled } from "../../../base/abort.ts";
import type { CallOptions, Process } from "../../engine.ts";
import { refusalReason } from "../http/api-error.ts";
import type { ApiAnswer } from "../http/api-request.ts";
import { attachProcess, type ProgramEnd } from "../exec/attached-process.ts";
import type { ContainerLink } from "./container-link.ts";
import { killedExitCode } from "./container-state.ts";
import { listenForExit } from "./exit-listener.ts";
import { endedProcess } from "../exec/ended-process.ts";
import { inspectContainer } from "./inspect-container.ts";
import { lostError } from "../../inside/lost-error.ts";
import { openAttached } from "./open-attached.ts";
import { pollUntilEnded } from "../exec/poll-until-ended.ts";
import { parseRuntimeFailure, type RuntimeFailure } from "../exec/runtime-failure.ts";

export interface MainProcess {
  readonly process: Process;
  /** Reports that the engine could not start the program. */
  fail(failure: RuntimeFailure): void;
  /** Reports that the program is being killed. */
  letGo(): void;
}

/** Connects to the main process of a container that has not been started yet. */
export async function attachMainProcess(
  link: ContainerLink,
  kill: Process["kill"],
  { signal }: CallOptions,
): Promise<MainProcess> {
  const giveUp = new AbortController();
  const failed = Promise.withResolvers<ProgramEnd>();
  const killed = Promise.withResolvers<void>();
  try {
    // Before the start, so that no end is missed.
    const listener = await untilCancelled(listenForExit(link, giveUp.signal), signal);
    if (listener === null) throw lostError(link.dialect.title);
    const opened = await openAttached(link, signal);
    if ("status" in opened) {
      giveUp.abort();
      return neverStarted(link, opened);
    }
    const socket = opened;
    const started = attachProcess({
      socket,
      lastWords: link.dialect.lastWords,
      filter: null,
      killed: killed.promise,
      awaitEnd: async (streamEnd) => {
        const nudge = Promise.race([streamEnd, listener.heard]);
        const end = await Promise.race([failed.promise, nudge.then(() => mainEnd(link, nudge))]);
        giveUp.abort();
        return end;
      },
    });
    return {
      process: { ...started, kill },
      fail: ({ exitCode, message }) => failed.resolve({ exitCode, failure: message }),
      letGo: killed.resolve,
    };
  } catch (error) {
    giveUp.abort();
    throw error;
  }
}

/** The process of a program that the engine rejected before its start, when a start would give the same result. */
function neverStarted({ api, spec }: ContainerLink, refusal: ApiAnswer): MainProcess {
  const failure = parseRuntimeFailure(refusalReason(refusal), spec.command ?? []);
  if (failure === null) throw api.refusal("attach to the container", refusal);
  const process = { ...endedProcess(failure), kill: () => Promise.resolve() };
  return { process, fail: () => undefined, letGo: () => undefined };
}

async function mainEnd(link: ContainerLink, nudge: Promise<void>): Promise<ProgramEnd> {
  try {
    const exitCode = await pollUntilEnded(async () => {
      const state = await inspectContainer(link);
      return state?.running ? "running" : (state?.exitCode ?? null);
    }, nudge);
    if (exitCode !== null) return { exitCode };
  } catch (error) {
    if (!link.isEndedByUs()) throw lostError(link.dialect.title, error);
  }
  if (link.isEndedByUs()) return { exitCode: killedExitCode };
  throw lostError(link.dialect.title);
}
