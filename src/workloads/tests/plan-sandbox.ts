import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch } from "../../policy/scratch.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { toolVariables } from "../dependencies/tool-variables.ts";
import { planOf } from "../program/plan-of.ts";
import { WatchedScratch } from "../run/disk/watched-scratch.ts";
import type { ReadyTests, TestRun } from "./test-run.ts";

/** Time beyond that of the commands before any sweep may take the sandbox: starting, copying, reading, removal. */
const lifetimeMarginMs = 900_000;

/** A sandbox to be opened; its scratch on this machine's disk, if any, goes with this. */
export interface PlannedSandbox extends AsyncDisposable {
  readonly profile: Profile;
  readonly plan: SandboxPlan;
  /** Null where the engine provides its scratch. */
  readonly scratch: WatchedScratch | null;
}

/** Plans a sandbox for tests, or one like it for what they need, with scratch of its own. @throws what `WatchedScratch.open` throws */
export async function planSandbox(run: TestRun, ready: ReadyTests): Promise<PlannedSandbox> {
  const { spec, dependencies, capabilities } = run;
  const { diskBytes } = spec.limits;
  const mayBeOnDisk = dependencies.diskScratch.serves(capabilities);
  const scratch = mayBeOnDisk ? await WatchedScratch.open({ ...dependencies, diskBytes }) : null;
  const profile = profileOf(run, ready, scratch !== null);
  const lifetimeMs = spec.limits.timeoutMs + spec.setupTimeoutMs + lifetimeMarginMs;
  const plan = { ...planOf(profile, lifetimeMs), mounts: scratch?.mounts };
  return { profile, plan, scratch, [Symbol.asyncDispose]: async () => scratch?.[Symbol.asyncDispose]() };
}

function profileOf(
  { spec, capabilities }: TestRun,
  { image, imageEnvironment, grant }: ReadyTests,
  isOnDisk: boolean,
): Profile {
  const profile = executeProfile({
    ...spec,
    image,
    scratchStorage: capabilities.scratch,
    networkEnvironment: grant?.environment,
    environment: { ...toolVariables, ...imageEnvironment, ...spec.environment },
  });
  return { ...profile, ...(isOnDisk ? { scratch: watchedScratch(spec.limits) } : {}), kind: "test" };
}
