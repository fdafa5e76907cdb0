import type { CallOptions } from "../../engines/engine.ts";
import type { LentPlace } from "../admission/admission.ts";
import type { Sandboxes } from "../sandboxes.ts";
import type { SpareSandbox, WarmKind, WarmSandbox } from "./warm-sandbox.ts";

export interface SpareOptions {
  readonly sandboxes: Pick<Sandboxes, "create">;
  /** Where it is to wait. */
  readonly place: LentPlace;
  /** Called when its program has ended. */
  readonly ended: (spare: SpareSandbox) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly signal: AbortSignal;
}

/** Makes one of that kind; whatever goes wrong, nothing of it is left. @throws what the engine throws, CANCELLED */
export async function makeSpare(
  kind: WarmKind,
  { sandboxes, place, ended, monotonicMs, signal }: SpareOptions,
): Promise<SpareSandbox> {
  const held = await kind.hold?.({ signal });
  let sandbox: WarmSandbox["sandbox"] | undefined;
  try {
    // Asked first: a tag that moves on meanwhile makes another name than the one that is compared later.
    const imageSeenMs = monotonicMs();
    const image = await imageOf(kind, { signal });
    sandbox = await sandboxes.create(kind.engine, kind.plan, { signal });
    const process = await kind.prepare(sandbox, { signal });
    const made = { sandbox, process, held, image, imageSeenMs, madeMs: monotonicMs() };
    const spare: SpareSandbox = { ...made, place, hasEnded: false };
    const end = (): void => {
      spare.hasEnded = true;
      ended(spare);
    };
    void process.exit.then(end, end);
    return spare;
  } catch (error) {
    // What is mounted in it must outlive it. A removal that fails is already in the log.
    await sandbox?.remove().catch(() => undefined);
    await held?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** The name of the content of a kind's image. @throws IMAGE_UNAVAILABLE, and what the engine throws */
export function imageOf({ engine, plan }: WarmKind, options: CallOptions): Promise<string> {
  return engine.images.identity(plan.image, options);
}
