import { mountUses } from "../policy/mounts/mount-policy.ts";
import { judgeHostPath } from "../sandbox/mounts/mount-gate.ts";
import { handle } from "./handling/handler.ts";
import { openMountGate } from "./open-mount-gate.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountResponse,
  type ListMountsResponse,
} from "./mounts-contract.ts";

/** Explains what the mount gate says about a path, for the operator of this machine. */
export const checkMountHandler = handle(checkMountContract, async (platform, request): Promise<CheckMountResponse> => {
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
});

/** The mount policy in force, for the operator of this machine. */
export const listMountsHandler = handle(listMountsContract, async (platform): Promise<ListMountsResponse> => {
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
});
