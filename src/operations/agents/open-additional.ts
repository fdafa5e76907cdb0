import { expandHome } from "../../config/mounts/expand-home.ts";
import { mountRefused } from "../../policy/mounts/mount-refused.ts";
import { judgeHostPath } from "../../sandbox/mounts/mount-gate.ts";
import type { AgentMount } from "../../workloads/agent/folders/agent-mounts.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { openMountGate } from "../mounts/open-mount-gate.ts";
import type { CheckedAgent } from "./agent-spec.ts";

/** What a group has beside its own folders, open, and what the caller should know of it. */
export interface OpenAdditional {
  readonly mounts: readonly AgentMount[];
  readonly notices: readonly string[];
}

/**
 * Opens the `additionalMounts` of a group, each through the mount gate (SPEC MO5).
 * @throws INVALID_REQUEST and POLICY_DENIED naming the key and the rule; then none is left open
 */
export async function openAdditional(
  platform: PlatformParts,
  { group, additionalMounts }: CheckedAgent,
): Promise<OpenAdditional> {
  if (additionalMounts.length === 0) return { mounts: [], notices: [] };
  const { gate, notices } = await openMountGate(platform);
  const mounts: AgentMount[] = [];
  const told = [...notices];
  try {
    for (const [index, { path, target: wanted, readOnly }] of additionalMounts.entries()) {
      const shownAs = `agents.groups.${group.name}.containerConfig.additionalMounts.${index}`;
      const given = expandHome(path, platform.host.homeDirectory);
      const access = readOnly ? "read-only" : "read-write";
      const asked = { path: given, use: "additional", access, isMain: group.isMain, target: wanted } as const;
      const { verdict, place } = await judgeHostPath(gate, asked);
      if (place === null) throw mountRefused(verdict, shownAs, path);
      mounts.push({ place, target: verdict.target ?? "", readOnly: verdict.readOnly, shownAs });
      if (verdict.readOnly && !readOnly) told.push(`${shownAs}: read-only. ${verdict.explanation}`);
    }
    return { mounts, notices: told };
  } catch (error) {
    for (const { place } of mounts) await place[Symbol.asyncDispose]();
    throw error;
  }
}
