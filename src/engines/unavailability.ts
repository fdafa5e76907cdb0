import { GloveboxError } from "../errors/glovebox-error.ts";
import type { EngineName, Engine, EngineProbe } from "./engine.ts";
import type { Endpoint } from "./docker-api/http/endpoint.ts";

/** Why an engine cannot be used, for people. */
export interface Unavailability {
  /** One sentence: what was tried and what happened. */
  readonly reason: string;
  /** Commands or steps that start or install it on this platform. */
  readonly howToStart: string;
  /** Nothing of it is on this machine; default: that is not known. */
  readonly isAbsent?: true | undefined;
}

/** A connection that failed. */
export interface ConnectFailure {
  /**
   * Node's error code, such as `ECONNREFUSED`, empty when it has none; `HTTP_` and a status for an answer that is not
   * an engine's; codes that begin with `SSH_` are about the connection over SSH (`sshFailure`).
   */
  readonly code: string;
  /** Who named the endpoint (`Endpoint.origin`). */
  readonly origin: string;
  readonly kind: Endpoint["kind"];
  /** The message of `ssh`, or of the command that it ran. */
  readonly detail?: string;
}

/** The `ENGINE_UNAVAILABLE` error that carries the reason and the start instructions. */
export function unavailableError(engine: EngineName, why: Unavailability, cause?: unknown): GloveboxError {
  return new GloveboxError("ENGINE_UNAVAILABLE", why.reason, {
    suggestion: why.howToStart,
    context: { engine, how_to_start: why.howToStart, ...(why.isAbsent === true ? { installed: false } : {}) },
    cause,
  });
}

/** What `unavailableError` was made of, or null for any other error. */
export function unavailabilityOf(error: unknown): Unavailability | null {
  if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") return null;
  const absent = error.context["installed"] === false ? { isAbsent: true as const } : {};
  return { reason: error.message, howToStart: error.suggestion, ...absent };
}

/** The engine's own answer; one that fails, or does not answer in time, cannot be used. @throws CANCELLED */
export async function probeEngine(engine: Engine, signal?: AbortSignal): Promise<EngineProbe> {
  try {
    return await engine.probe({ signal });
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    return { available: false, reason: error.message, howToStart: error.suggestion };
  }
}
