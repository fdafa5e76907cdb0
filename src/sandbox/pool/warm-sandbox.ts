import type { CallOptions, Engine, Process } from "../../engines/engine.ts";
import type { LentPlace } from "../admission/admission.ts";
import type { Sandbox } from "../sandbox.ts";
import type { SandboxPlan } from "../sandbox-plan.ts";

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
  /** Milliseconds of a clock that never goes back. */
  readonly madeMs: number;
  /** Lent, until a request needs it. */
  place: LentPlace;
  hasEnded: boolean;
}

/** How long one may take to show that it is healthy. */
const checkMs = 1_000;

/** Whether its container runs and the program in it is still waiting. */
export async function isWell(spare: SpareSandbox): Promise<boolean> {
  if (spare.hasEnded) return false;
  try {
    const stats = await spare.sandbox.check({ signal: AbortSignal.timeout(checkMs) });
    // Its program may have ended while its container was asked.
    return stats !== null && !spare.hasEnded;
  } catch {
    return false;
  }
}
