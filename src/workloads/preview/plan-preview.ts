import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch } from "../../policy/scratch.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { toolVariables } from "../dependencies/tool-variables.ts";
import { planOf } from "../program/plan-of.ts";
import { WatchedScratch } from "../run/disk/watched-scratch.ts";
import type { PreviewParts } from "./preview-parts.ts";
import type { PreviewSpec } from "./preview-spec.ts";

/** Time beyond that of the commands before any sweep may take the sandbox: starting, copying, the end. */
const lifetimeMarginMs = 900_000;

/** What is known when a preview's sandbox is planned. */
export interface PreviewPlanFacts {
  readonly capabilities: Capabilities;
  readonly image: string;
  /** What programs in that image get beside its own variables. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
}

/** A sandbox to be opened; its scratch on this machine's disk, if it has any, goes with this. */
export interface PlannedPreview extends AsyncDisposable {
  /** Without what only its server is told, such as the port: dependencies are the same whatever that is. */
  readonly profile: Profile;
  readonly plan: SandboxPlan;
  /** Null where its scratch is the engine's. */
  readonly scratch: WatchedScratch | null;
}

/** Plans a sandbox for a preview, or one like it for what it needs, with scratch of its own. @throws what `WatchedScratch.open` throws */
export async function planPreview(
  spec: PreviewSpec,
  parts: PreviewParts,
  { capabilities, image, imageEnvironment, grant }: PreviewPlanFacts,
): Promise<PlannedPreview> {
  const { diskBytes } = spec.limits;
  const mayBeOnDisk = parts.diskScratch.serves(capabilities);
  const scratch = mayBeOnDisk ? await WatchedScratch.open({ ...parts, diskBytes }) : null;
  const profile: Profile = {
    ...executeProfile({
      ...spec,
      image,
      scratchStorage: capabilities.scratch,
      networkEnvironment: grant?.environment,
      environment: { ...toolVariables, ...imageEnvironment, ...spec.environment },
    }),
    ...(scratch === null ? {} : { scratch: watchedScratch(spec.limits) }),
    kind: "preview",
  };
  const lifetimeMs = spec.limits.timeoutMs + spec.setupTimeoutMs + lifetimeMarginMs;
  const plan = { ...planOf(profile, lifetimeMs), mounts: scratch?.mounts };
  return { profile, plan, scratch, [Symbol.asyncDispose]: async () => scratch?.[Symbol.asyncDispose]() };
}
