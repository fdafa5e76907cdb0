import type { CallOptions, Engine, Process } from "../engines/engine.ts";
import type { LentPlace } from "./admission.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

/** Sandboxes that serve the same requests, and how one is made. */
export interface WarmKind {
  /** Equal for the same plan, engine and waiting program: nothing else may decide what a request is given. */
  readonly key: string;
  readonly engine: Engine;
  readonly plan: SandboxPlan;
  /** As `DemandBounds.worthFrom`. */
  readonly worthFrom: number;
  /** Starts the program that waits for its one job. */
  prepare(sandbox: Sandbox, options: CallOptions): Promise<Process>;
  /** Keeps what is mounted in it from being removed; left out: nothing is. */
  hold?(options: CallOptions): Promise<AsyncDisposable>;
}

/** A sandbox in which only the waiting program has run. */
export interface WarmSandbox {
  readonly sandbox: Sandbox;
  readonly process: Process;
}

/** One that nobody has yet. */
export interface SpareSandbox extends WarmSandbox {
  readonly held: AsyncDisposable | undefined;
  /** Name of the image's content that it was made of. */
  readonly image: string;
  /** When the image was last seen to be that one; milliseconds of a clock that never goes back. */
  imageSeenMs: number;
  /** Whether it is well, as it was asked a moment ago for a request that may take it. */
  check?: HealthCheck | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly madeMs: number;
  /** Lent, until a request needs it. */
  place: LentPlace;
  hasEnded: boolean;
}

/** A question whether one is well; the answer never rejects. */
interface HealthCheck {
  /** Milliseconds of a clock that never goes back. */
  readonly begunMs: number;
  readonly isWell: Promise<boolean>;
}

/** How long one may take to show that it is healthy. */
const checkMs = 1_000;
/** How long before it is handed out one may have been asked. */
const freshMs = 100;

/** Whether it has been asked so shortly before that nobody need ask again. */
export function isChecked({ check }: SpareSandbox, nowMs: number): boolean {
  return check !== undefined && nowMs - check.begunMs < freshMs;
}

/** Asks ahead of the request that may take it. */
export function beginCheck(spare: SpareSandbox, nowMs: number): void {
  spare.check = { begunMs: nowMs, isWell: isWell(spare) };
}

/** Whether it is well, by a question of this moment or of the one before. */
export async function isWellNow(spare: SpareSandbox, nowMs: number): Promise<boolean> {
  if (!isChecked(spare, nowMs)) beginCheck(spare, nowMs);
  const { check } = spare;
  spare.check = undefined;
  return (await check?.isWell) === true && !spare.hasEnded;
}

/** Whether its container runs and the program in it is still waiting. */
export async function isWell(spare: SpareSandbox): Promise<boolean> {
  if (spare.hasEnded) return false;
  try {
    const isAlive = await spare.sandbox.isAlive({ signal: AbortSignal.timeout(checkMs) });
    // Its program may have ended while its container was asked.
    return isAlive && !spare.hasEnded;
  } catch {
    return false;
  }
}
