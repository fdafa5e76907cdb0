import { mountUses } from "./contract/wire-values.ts";
import { judgeHostPath, type MountGate } from "../sandbox/mounts/mount-gate.ts";
import { handle } from "./handling/handler.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountResponse,
  type ListMountsResponse,
} from "./mounts-contract.ts";
import { expandHome } from "../config/expand-home.ts";
import { mountRefused } from "../policy/mounts/mount-refused.ts";
import type { HostMount } from "../workloads/run/host-mount.ts";
import type { MountNeeds } from "./handling/needs.ts";

/** Explains what the mount gate says about a path, for the operator of this machine. */
export const checkMountHandler = handle(
  checkMountContract,
  async (platform: MountNeeds, request): Promise<CheckMountResponse> => {
    const { gate, notices } = await openMountGate(platform);
    const uses = request.use === undefined ? mountUses : [request.use];
    const checks = await Promise.all(
      uses.map(async (use) => {
        await using judged = await judgeHostPath(gate, {
          path: request.path,
          use,
          access: request.access ?? "read-write",
          isMain: request.is_main ?? false,
          target: request.target,
        });
        return { use, verdict: judged.verdict, found: judged.found };
      }),
    );
    const found = checks.find((check) => check.found !== null)?.found ?? null;
    return {
      path: request.path,
      real_path: found?.realPath ?? null,
      kind: found?.kind ?? null,
      verdicts: checks.map(({ use, verdict }) => ({
        use,
        allowed: verdict.allowed,
        read_only: verdict.readOnly,
        rule: verdict.rule,
        root: verdict.root?.path ?? null,
        listed_as: verdict.root?.listedAs ?? null,
        pattern: verdict.pattern,
        target: verdict.target,
        explanation: verdict.explanation,
        what_would_allow: verdict.whatWouldAllow,
      })),
      notices: [...notices],
    };
  },
);

/** The mount policy in force, for the operator of this machine. */
export const listMountsHandler = handle(
  listMountsContract,
  async (platform: MountNeeds): Promise<ListMountsResponse> => {
    const { policy, allowlist, lookedFor, missingRoots, notices } = await platform.loadMountPolicy();
    const rows = [
      ...policy.roots.map((root) => ({ ...root, exists: true })),
      ...missingRoots.map((root) => ({ ...root, path: root.listedPath, exists: false })),
    ];
    return {
      allowlist: allowlist?.path ?? null,
      looked_for: [...lookedFor],
      non_main_read_only: policy.nonMainReadOnly,
      roots: rows.map((root) => ({
        path: root.path,
        source: root.source,
        listed_as: root.listedAs,
        allow_read_write: root.allowReadWrite,
        description: root.description,
        exists: root.exists,
      })),
      blocked_patterns: policy.blockedPatterns.map(({ source, what }) => ({ pattern: source, what })),
      protected_places: policy.protectedPlaces.map(({ path, what }) => ({ path, what })),
      notices: [...notices],
    };
  },
);

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
interface OpenMounts {
  readonly mounts: readonly HostMount[];
  readonly notices: readonly string[];
}

/**
 * Opens additional mounts, each through the mount gate (SPEC MO5).
 * @param isMain whether the caller may write where the allowlist reserves that for the main group
 * @throws INVALID_REQUEST and POLICY_DENIED naming the mount and the rule; none is left open then
 */
export async function openMounts(
  platform: MountNeeds,
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

/** The gate that checks every host path of a request, with what the operator should know about it. */
interface OpenMountGate {
  readonly gate: MountGate;
  readonly notices: readonly string[];
}

/** The gate with the current policy. @throws INVALID_REQUEST for a bad mount allowlist */
export async function openMountGate({ host, ...platform }: MountNeeds): Promise<OpenMountGate> {
  const { policy, notices } = await platform.loadMountPolicy();
  return { gate: { policy, platform: host.platform, workingDirectory: host.workingDirectory }, notices };
}
