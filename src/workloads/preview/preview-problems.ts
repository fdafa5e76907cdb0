import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { BackgroundProcess } from "../place/background-process.ts";
import { secretWarnings } from "../run/explain-secrets.ts";
import { placeOfError } from "./error-place.ts";
import type { PreviewError } from "./error-scanner.ts";
import type { PreviewSpec } from "./preview-spec.ts";
import { startWithinMs, type SilentState } from "./watch-port.ts";

/**
 * What a preview's caller should know about its output, one sentence each; `redaction`: of its secrets, null before its
 * start.
 */
export function hintsOf(command: string, logs: string, redaction: Redaction | null): readonly string[] {
  const isOfWebpack = logs.includes("[webpack-dev-server]") && !/web-?socket-?url/i.test(command);
  return [...(redaction === null ? [] : secretWarnings(redaction)), ...(isOfWebpack ? [webpackHint] : [])];
}

const webpackHint =
  "webpack-dev-server: its pages look for updates at the server's own port unless told otherwise: --client-web-socket-url auto://0.0.0.0:0/ws, or client.webSocketURL in devServer.";

/** Why a preview is over, for its status and for an alert. */
export interface PreviewEnd {
  readonly problem: GloveboxError;
  readonly error: PreviewError;
}

/** How many of the newest lines of an ended program an alert shows. */
const maxLines = 20;

/** The command has ended, though it should serve until it is stopped. */
export function exitOf(
  { state, exitCode }: Pick<BackgroundProcess, "state" | "exitCode">,
  { isOutOfMemory, logs }: { readonly isOutOfMemory: boolean; readonly logs: string },
): PreviewEnd {
  if (isOutOfMemory) {
    const suggestion = "Give it more memory (limits.memory_mb), or let it do less.";
    return endOf(new GloveboxError("OOM_KILLED", "The preview ran out of memory.", { suggestion }), logs);
  }
  if (state === "lost") return endOf(new GloveboxError("SANDBOX_LOST", "The preview's sandbox has ended."), logs);
  const suggestion =
    exitCode === 0
      ? "Let the command stay in the foreground as long as it serves: without & and without a daemon."
      : "Correct what its output tells of, and start the preview again.";
  const message = `The preview's command has ended with exit code ${exitCode ?? "unknown"}.`;
  return endOf(new GloveboxError("INVALID_REQUEST", message, { suggestion, context: { exit_code: exitCode } }), logs);
}

/** Its dependencies could not be installed. */
export function exitOfInstallation({ errorType, message }: GloveboxError, logs: string): PreviewEnd {
  const suggestion =
    "Read `logs`; give a `setup_command` that works with the package registries alone, or an image that has what is needed.";
  return endOf(new GloveboxError(errorType, message, { suggestion }), logs);
}

/** The command serves at another port than was asked for; null where it serves there, or none was named. */
export function otherPortNote(
  { port, isPortNamed }: Pick<PreviewSpec, "port" | "isPortNamed">,
  served: number,
): string | null {
  if (!isPortNamed || served === port) return null;
  return `The command does not listen on port ${port} but on ${served}, which the preview follows; name it with port: ${served}.`;
}

/** A port that should answer, and does not. */
export interface SilentPort {
  readonly state: SilentState;
  readonly port: number;
  /** Ports at which something listens that does not answer either. */
  readonly others: readonly number[];
  /** Whether it did until now. */
  readonly hasAnswered: boolean;
}

/** Its port does not answer. */
export function silenceOf({ state, port, others, hasAnswered }: SilentPort): GloveboxError {
  const seconds = startWithinMs / 1_000;
  if (hasAnswered) {
    return new GloveboxError("NETWORK_ERROR", `Port ${port} of the preview answers no more.`, {
      suggestion: "Read `logs`: the command still runs, but serves nothing.",
      context: { port },
    });
  }
  const what = state === "closed" ? "Nothing listens on" : "Something listens on, and does not answer in HTTP at,";
  const elsewhere = others.length === 0 ? "" : ` What listens on ${others.join(", ")} does not answer in HTTP.`;
  const message = `${what} port ${port} of the preview ${seconds} s after its start.${elsewhere}`;
  return new GloveboxError("NETWORK_ERROR", message, {
    suggestion:
      "Read `logs` for the port that the command chose, and name that; it may listen on localhost or on all addresses.",
    context: { port },
  });
}

function endOf(problem: GloveboxError, logs: string): PreviewEnd {
  const lines = logs.trimEnd().split("\n").slice(-maxLines);
  return { problem, error: { nature: "exit", summary: problem.message, place: placeOfError(lines), lines } };
}
