import type { Process } from "../../engines/engine.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import type { Execution } from "./execution.ts";
import type { RunnerNeeds } from "./runner-exec.ts";
import { warmKindOf } from "./warm-kind.ts";

/** A sandbox, and the runner in it where one waits there already. */
export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  readonly process: Process | null;
}

/** What it is to be made from. */
export interface SandboxToOpen {
  readonly plan: SandboxPlan;
  readonly needs: RunnerNeeds;
  /** Whether something of it is opened for this one run. */
  readonly hasOwnPlaces: boolean;
  /** Mounted in it; null: none. */
  readonly packages: Pick<ProvidedPackages, "hold"> | null;
}

/**
 * A sandbox for one run: one that waits, where there is one for such runs and they may have it, else a new one.
 * @throws CAPACITY, CANCELLED, and what the engine throws
 */
export async function openSandbox(
  { spec, dependencies, caller }: Execution,
  { plan, needs, hasOwnPlaces, packages }: SandboxToOpen,
): Promise<OpenedSandbox> {
  const { engine, sandboxes, warm } = dependencies;
  const { sandboxId: id, labels } = spec;
  if (warm !== null && !hasOwnPlaces) {
    const { programEnvironment = {} } = plan;
    const identity = { labels, programEnvironment, ...(id === undefined ? {} : { id }) };
    const kind = warmKindOf(spec, { ...needs, ...warm, engine, plan, packages });
    const taken = await warm.pool.take(kind, { ...caller, identity });
    if (taken !== null) return taken;
  }
  return { sandbox: await sandboxes.open(engine, { ...plan, id, labels }, caller), process: null };
}
