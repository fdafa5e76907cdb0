import type { Profile } from "../../policy/profile.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";

/** The sandbox that a profile describes; `lifetimeMs` is its hard end, after which any sweep may remove it. */
export function planOf(profile: Profile, lifetimeMs: number): SandboxPlan {
  const { kind, image, ociRuntime, limits, scratch, environment, processUser, workingDirectory } = profile;
  return {
    kind,
    image,
    ociRuntime,
    limits,
    scratch: scratch.places,
    sharedMemoryBytes: scratch.sharedMemoryBytes,
    processUser,
    workingDirectory,
    programEnvironment: environment,
    lifetimeMs,
  };
}
