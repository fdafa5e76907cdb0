import type { Process } from "../../engines/engine.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import type { Execution } from "./execution.ts";
import type { RunnerNeeds } from "./runner-exec.ts";
import { warmKindOf } from "./warm-kind.ts";

/** A sandbox, and the runner in it if one is already waiting there. */
export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  readonly process: Process | null;
}

/** What to create it from. */
export interface SandboxToOpen {
  readonly plan: SandboxPlan;
  readonly needs: RunnerNeeds;
  /** Whether parts of it are opened just for this run. */
  readonly hasOwnPlaces: boolean;
  /** Mounted in it; null: none. */
  readonly packages: Pick<ProvidedPackages, "hold"> | null;
  /** Has the image pulled or built when it is missing, for one of its own; null: that has been done. */
  readonly provideImage: (() => Promise<void>) | null;
}

/**
 * A sandbox for one run: a warm one if there is a suitable one that the run may use, else a new one.
 * @throws CAPACITY, CANCELLED, IMAGE_UNAVAILABLE, and what the engine throws
 */
export async function openSandbox(
  { spec, dependencies, caller }: Execution,
  { plan, needs, hasOwnPlaces, packages, provideImage }: SandboxToOpen,
): Promise<OpenedSandbox> {
  const { engine, sandboxes, warm } = dependencies;
  const { sandboxId: id, labels, name: givenName } = spec;
  if (warm !== null && !hasOwnPlaces) {
    const { programEnvironment = {} } = plan;
    const identity = { labels, givenName: givenName ?? null, programEnvironment, ...(id === undefined ? {} : { id }) };
    const kind = warmKindOf(spec, { ...needs, ...warm, engine, plan, packages });
    const taken = await warm.pool.take(kind, { ...caller, identity });
    if (taken !== null) return taken;
  }
  await provideImage?.();
  return { sandbox: await sandboxes.open(engine, { ...plan, id, labels, givenName }, caller), process: null };
}
