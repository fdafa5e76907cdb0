import { fixedVersion, parseUpstreamVersion, type AffectedVersions } from "../base/upstream-version.ts";

/** A hole in Node's permission model, which is what keeps JavaScript in its folders at level `preload`. */
export interface NodeFault {
  readonly cve: string;
  readonly affected: readonly AffectedVersions[];
  /** Whether a program gets at files outside its folders; else it only learns which there are. */
  readonly opensFiles: boolean;
  /** What can happen, in one sentence. */
  readonly effect: string;
}

/** From the records of Node's security working group. A series that gets no fixes any more is fixed by the next that does. */
export const nodeFaults: readonly NodeFault[] = [
  {
    cve: "CVE-2026-58043",
    affected: [{ fixed: "22.23.2" }, { from: "23.0.0", fixed: "24.18.1" }, { from: "25.0.0", fixed: "26.5.1" }],
    opensFiles: true,
    effect:
      "At level preload a program can read and write files outside its folders whose paths begin like those it was given.",
  },
  {
    cve: "CVE-2026-106073",
    affected: [{ fixed: "22.23.4" }, { from: "23.0.0", fixed: "24.22.1" }, { from: "25.0.0", fixed: "26.12.1" }],
    opensFiles: false,
    effect: "At level preload a program can learn which files the host has, and where links lead.",
  },
];

/** What a result must say of a Node that is known to leak; null when nothing is known against it. */
export function nodeFaultNote(version: string): string | null {
  const known = parseUpstreamVersion(version);
  if (known === null) return null;
  const found = nodeFaults.flatMap((fault) => {
    const fixed = fixedVersion(known, fault.affected);
    return fixed === null ? [] : [`${fault.cve}, fixed in ${fixed}`];
  });
  if (found.length === 0) return null;
  return `isolation preload: the permission model of Node ${version} is known to be broken (${found.join("; ")}). Upgrade Node, or use an engine with a higher isolation.`;
}
