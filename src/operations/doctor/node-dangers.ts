import { fixedVersion } from "../../base/affected-versions.ts";
import { parseUpstreamVersion } from "../../base/upstream-version.ts";
import type { EngineSetup } from "../../engines/engine-setup.ts";
import { nodeFaults } from "../../engines/node-faults.ts";
import type { Finding } from "./finding-schema.ts";
import type { KnownDanger } from "./known-danger.ts";

/** Vulnerabilities of the interpreter, on which only level `preload` relies. */
export const nodeDangers: readonly KnownDanger[] = nodeFaults.map(({ cve, affected, opensFiles, effect }) => ({
  component: "Node",
  cves: [cve],
  affected,
  severity: opensFiles ? "danger" : "warning",
  effect,
  onlyWith: "level preload",
}));

/**
 * What is known about the Node that runs Glovebox, for an engine whose programs it does not contain: the kernel
 * isolates them, but the same machine may come to rely on Node.
 */
export function nodeFindings({ inProcess }: EngineSetup, nodeVersion: string): readonly Finding[] {
  const version = parseUpstreamVersion(nodeVersion);
  if (inProcess !== true || version === null) return [];
  return nodeFaults.flatMap(({ cve, affected, effect }) => {
    const fixed = fixedVersion(version, affected);
    if (fixed === null) return [];
    return [
      {
        severity: "note",
        what: `The permission model of Node ${nodeVersion.replace(/^v/, "")} is known to be broken (${cve}).`,
        why: `${effect} Programs are isolated by the kernel here and do not depend on it.`,
        fix: `Upgrade Node to ${fixed} or later.`,
      },
    ];
  });
}
