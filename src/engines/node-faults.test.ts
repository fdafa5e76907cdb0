import { expect, it } from "vitest";
import { nodeFaultNote } from "./node-faults.ts";

it.each([
  ["22.23.1", ["CVE-2026-58043, fixed in 22.23.2", "CVE-2026-106073, fixed in 22.23.4"]],
  ["22.23.3", ["CVE-2026-106073, fixed in 22.23.4"]],
  ["22.23.4", []],
  ["24.18.0", ["CVE-2026-58043, fixed in 24.18.1", "CVE-2026-106073, fixed in 24.22.1"]],
  ["24.21.0", ["CVE-2026-106073, fixed in 24.22.1"]],
  ["24.22.1", []],
  ["25.9.0", ["CVE-2026-58043, fixed in 26.5.1", "CVE-2026-106073, fixed in 26.12.1"]],
  ["26.5.1", ["CVE-2026-106073, fixed in 26.12.1"]],
  ["26.12.1", []],
])("of Node %s it is told what is known", (version, faults) => {
  const note = nodeFaultNote(version);
  const told = /Node (.*) is known to be broken \((.*)\)/.exec(note ?? "")?.slice(1) ?? null;
  expect(told).toEqual(faults.length === 0 ? null : [version, faults.join("; ")]);
});
