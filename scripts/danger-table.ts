import { knownDangers, type KnownDanger } from "../src/operations/known-dangers.ts";
import { replaceMarked } from "./marked-section.ts";

/** The text of docs/doctor.md with the current table of the versions that doctor warns about. */
export function withDangerTable(text: string): string {
  return replaceMarked(text, "danger-table", renderDangers(knownDangers));
}

function renderDangers(dangers: readonly KnownDanger[]): string {
  const rows = dangers.map(({ component, cves, affected, severity, effect, onlyWith }) => [
    component,
    cves.map((id) => `[${id}](https://www.cve.org/CVERecord?id=${id})`).join(", "),
    affected.map(({ from, fixed }) => `${from === undefined ? "" : `${from} to `}before ${fixed}`).join("; "),
    severity,
    onlyWith === undefined ? effect : `${effect} Only with ${onlyWith}.`,
  ]);
  const lines = [["part", "fault", "versions", "severity", "what can happen"], Array<string>(5).fill("---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
