import { mebibyte } from "../base/bytes.ts";
import { temporaryFolder, workFolder } from "../policy/scratch.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

/** What of a plan decides what programs may do, in the words of the wire; the record of a run's policy begins with it. */
export function sandboxPolicy(engine: string, plan: SandboxPlan): Readonly<Record<string, unknown>> {
  const { kind, image, ociRuntime, limits, scratch, mounts = [], writableRoot, rootCapabilities, processUser } = plan;
  const ownFolders = new Set([workFolder, temporaryFolder, ...(kind === "session" ? [plan.workingDirectory] : [])]);
  return {
    kind,
    engine,
    image,
    oci_runtime: ociRuntime ?? null,
    limits: { cpus: limits.cpus, memory_mb: limits.memoryBytes / mebibyte, pids: limits.pids },
    scratch: scratch.map(({ path, sizeBytes }) => ({ path, size_mb: sizeBytes / mebibyte })),
    mounts: mounts.map(({ source, target, readOnly }) => ({
      source: ownFolders.has(target) ? "scratch" : source,
      target,
      read_only: readOnly,
    })),
    writable_root: writableRoot !== undefined,
    root_capabilities: rootCapabilities ?? [],
    process_user: processUser ?? null,
  };
}
