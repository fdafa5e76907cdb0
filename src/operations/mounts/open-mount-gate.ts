import type { PlatformParts } from "../handling/platform-parts.ts";
import type { MountGate } from "../../sandbox/mounts/mount-gate.ts";

/** The gate that every host path of a request goes through, with what the operator should be told about it. */
export interface OpenMountGate {
  readonly gate: MountGate;
  readonly notices: readonly string[];
}

/** The gate of this moment. @throws INVALID_REQUEST for a bad mount allowlist */
export async function openMountGate({ host, ...platform }: PlatformParts): Promise<OpenMountGate> {
  const { policy, notices } = await platform.loadMountPolicy();
  return { gate: { policy, platform: host.platform, workingDirectory: host.workingDirectory }, notices };
}
