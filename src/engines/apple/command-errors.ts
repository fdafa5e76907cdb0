import { GloveboxError } from "../../errors/glovebox-error.ts";
import { unavailableError } from "../docker-api/http/unavailability.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import { explainStop, explainVersion, installInstructions, startInstructions } from "./start-instructions.ts";
import type { CommandVersion } from "./service-answer.ts";
import { failureKind, failureWords, type CommandResult } from "./command-failure.ts";

export const engineName = "apple";
export const engineTitle = "Apple's container service";

/**
 * The error of a call that the command did not do; `action` follows "could not".
 * Its words may hold paths of this machine, so they go into the cause alone.
 */
export function refusal(action: string, { exitCode, stderr }: CommandResult): GloveboxError {
  const words = failureWords(stderr) ?? stderr.trim();
  const cause = new Error(words.slice(0, 2_000));
  const kind = failureKind(words);
  if (kind === "down" || kind === "interrupted" || kind === "late") {
    return unavailableError(engineName, explainStop(kind), cause);
  }
  if (kind === "no-container" || kind === "not-running") return lostError(engineTitle, cause);
  return new GloveboxError("INTERNAL", `${engineTitle} could not ${action}.`, {
    suggestion: "Retry; if it happens again, check `container system logs`.",
    context: { engine: engineName, exit_code: exitCode },
    cause,
  });
}

/** An answer that cannot be read: cut off, or of a version whose answers have another form. */
export function unreadable(action: string, cause: unknown): GloveboxError {
  const reason = `${engineTitle} was asked to ${action}, but its answer is invalid.`;
  return unavailableError(engineName, { reason, howToStart: startInstructions("restart") }, cause);
}

export function lateError(action: string, deadlineMs: number): GloveboxError {
  const reason = `${engineTitle} was asked to ${action}, but did not within ${deadlineMs / 1000} s.`;
  return unavailableError(engineName, { reason, howToStart: startInstructions("restart") });
}

export function floodError(action: string): GloveboxError {
  const reason = `${engineTitle} was asked to ${action}, but answered with more than Glovebox reads.`;
  return unavailableError(engineName, { reason, howToStart: startInstructions("restart") });
}

export function notInstalled(cause?: unknown): GloveboxError {
  const reason = "Apple's `container` command is not installed: it is not on the PATH.";
  return unavailableError(engineName, { reason, howToStart: installInstructions, isAbsent: true }, cause);
}

export function unsupportedVersion(version: CommandVersion | null): GloveboxError {
  return unavailableError(engineName, { reason: explainVersion(version), howToStart: installInstructions });
}

export function serviceDown(): GloveboxError {
  return unavailableError(engineName, explainStop("down"));
}
