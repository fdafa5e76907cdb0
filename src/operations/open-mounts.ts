import { expandHome } from "../config/expand-home.ts";
import { mountRefused } from "../policy/mounts/mount-refused.ts";
import { judgeHostPath } from "../sandbox/mounts/mount-gate.ts";
import type { HostMount } from "../workloads/run/host-mount.ts";
import type { PlatformParts } from "./handling/platform-parts.ts";
import { openMountGate } from "./open-mount-gate.ts";

/** A folder or file of this machine that is requested in addition to a project. */
export interface WantedMount {
  readonly path: string;
  /** Relative path below `/workspace/extra`; undefined: its own name. */
  readonly target: string | undefined;
  readonly readOnly: boolean;
  /** For errors: the key of the configuration, or the option. */
  readonly shownAs: string;
}

/** What is mounted, held open, and what the caller should know about it. */
export interface OpenMounts {
  readonly mounts: readonly HostMount[];
  readonly notices: readonly string[];
}

/**
 * Opens additional mounts, each through the mount gate (SPEC MO5).
 * @param isMain whether the caller may write where the allowlist reserves that for the main group
 * @throws INVALID_REQUEST and POLICY_DENIED naming the mount and the rule; none is left open then
 */
export async function openMounts(
  platform: PlatformParts,
  wanted: readonly WantedMount[],
  isMain: boolean,
): Promise<OpenMounts> {
  if (wanted.length === 0) return { mounts: [], notices: [] };
  const { gate, notices } = await openMountGate(platform);
  const mounts: HostMount[] = [];
  const told = [...notices];
  try {
    for (const { path, target, readOnly, shownAs } of wanted) {
      const given = expandHome(path, platform.host.homeDirectory);
      const access = readOnly ? "read-only" : "read-write";
      const { verdict, place } = await judgeHostPath(gate, { path: given, use: "additional", access, isMain, target });
      if (place === null) throw mountRefused(verdict, shownAs, path);
      mounts.push({ place, target: verdict.target ?? "", readOnly: verdict.readOnly, shownAs });
      if (verdict.readOnly && !readOnly) told.push(`${shownAs}: read-only. ${verdict.explanation}`);
    }
    return { mounts, notices: told };
  } catch (error) {
    await closeMounts(mounts);
    throw error;
  }
}

/** Closes what `openMounts` opened. */
export async function closeMounts(mounts: readonly HostMount[]): Promise<void> {
  for (const { place } of mounts) await place[Symbol.asyncDispose]();
}
