import type { PlatformParts } from "./handling/platform-parts.ts";
import type { MountGate } from "../sandbox/mounts/mount-gate.ts";

/** The gate that checks every host path of a request, with what the operator should know about it. */
export interface OpenMountGate {
  readonly gate: MountGate;
  readonly notices: readonly string[];
}

/** The gate with the current policy. @throws INVALID_REQUEST for a bad mount allowlist */
export async function openMountGate({ host, ...platform }: PlatformParts): Promise<OpenMountGate> {
  const { policy, notices } = await platform.loadMountPolicy();
  return { gate: { policy, platform: host.platform, workingDirectory: host.workingDirectory }, notices };
}
