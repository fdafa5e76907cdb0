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

/** What bounds the demand for one kind of warm sandbox. */
interface DemandBounds {
  /** Kept once it has been requested, however long ago. */
  readonly min: number;
  readonly max: number;
  /** After this long without a request only `min` are wanted. */
  readonly idleMs: number;
  /** The request from which it is worth having any: 1 is the first. */
  readonly worthFrom: number;
}

/** How long is looked back for what was never needed. */
const windowMs = 60_000;

/**
 * How many warm sandboxes of one kind are worth having: one more with each request that found none, and half of what was
 * never needed fewer with each minute.
 */
export class Demand {
  readonly #bounds: DemandBounds;
  #asked = 0;
  #lastAskedMs: number;
  #wanted = 0;
  #leastLeft = Number.POSITIVE_INFINITY;
  #windowEndsMs: number;

  /** `nowMs` is of a clock that never goes back, here and below. */
  constructor(bounds: DemandBounds, nowMs: number) {
    this.#bounds = bounds;
    this.#lastAskedMs = nowMs;
    this.#windowEndsMs = nowMs + windowMs;
  }

  get wanted(): number {
    return this.#wanted;
  }

  get lastAskedMs(): number {
    return this.#lastAskedMs;
  }

  /** Whether there has been no request for long and none is kept. */
  isOver(nowMs: number): boolean {
    return this.#wanted === 0 && nowMs - this.#lastAskedMs >= this.#bounds.idleMs;
  }

  /** A request arrives, and finds this many. */
  ask(found: number, nowMs: number): void {
    const { min, max, worthFrom } = this.#bounds;
    this.#asked += 1;
    this.#lastAskedMs = nowMs;
    this.#leastLeft = Math.min(this.#leastLeft, Math.max(0, found - 1));
    if (found === 0 && this.#asked >= worthFrom) this.#wanted = Math.min(max, Math.max(min, this.#wanted + 1));
  }

  /** Time passes, with this many waiting. */
  settle(present: number, nowMs: number): void {
    const { min, idleMs } = this.#bounds;
    if (nowMs - this.#lastAskedMs >= idleMs) {
      this.#asked = 0;
      this.#wanted = Math.min(this.#wanted, min);
    } else if (nowMs >= this.#windowEndsMs && this.#wanted > 1) {
      const unneeded = Math.min(this.#leastLeft, present);
      this.#wanted = Math.max(1, min, this.#wanted - Math.ceil(unneeded / 2));
    }
    if (nowMs < this.#windowEndsMs) return;
    this.#leastLeft = present;
    this.#windowEndsMs = nowMs + windowMs;
  }
}
