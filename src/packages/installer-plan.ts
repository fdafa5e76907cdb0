import { gibibyte, mebibyte } from "../base/bytes.ts";
import { withinCeilings, type Limits } from "../policy/limits.ts";
import { temporaryFolder, workFolder } from "../policy/scratch.ts";
import type { SandboxPlan } from "../sandbox/sandbox-plan.ts";

const temporaryBytes = 64 * mebibyte;
/** Time beyond the installation's own before any sweep may take the sandbox. */
const lifetimeMarginMs = 300_000;

/** What an installation may use, within the deployment's ceilings: packages lie in memory until they are in the cache. */
export function installerLimits(ceilings: Limits): Limits {
  return withinCeilings(
    { cpus: 1, memoryBytes: 3 * gibibyte, timeoutMs: 300_000, pids: 512, diskBytes: 1.5 * gibibyte },
    ceilings,
  );
}

/** The sandbox of an installation. */
export function installerPlan(
  { image, ociRuntime }: { readonly image: string; readonly ociRuntime: string | undefined },
  limits: Limits,
): SandboxPlan {
  const sizeBytes = Math.min(limits.diskBytes, Math.floor(limits.memoryBytes / 2));
  return {
    kind: "install",
    image,
    ociRuntime,
    limits,
    scratch: [
      { path: workFolder, sizeBytes },
      { path: temporaryFolder, sizeBytes: temporaryBytes },
    ],
    workingDirectory: workFolder,
    lifetimeMs: limits.timeoutMs + lifetimeMarginMs,
  };
}
