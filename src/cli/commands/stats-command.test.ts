import { describe, expect, it } from "vitest";
import type { SandboxStatsRow } from "../../operations/metrics-contract.ts";
import { statsTable } from "./sandboxes-commands.ts";

const row: SandboxStatsRow = {
  container_id: "sbx-1",
  name: "web",
  engine: "docker",
  kind: "session",
  limits: { cpus: 2, memory_mb: 512 },
  sample: {
    timestamp: "2026-01-02T03:04:05.000Z",
    cpu_percent: 150.5,
    memory_mb: 40.1,
    network_rx_bytes: 0,
    network_tx_bytes: 1_023,
    disk_read_bytes: 1_572_864,
    disk_write_bytes: null,
    memory_cache_mb: null,
    scratch_mb: null,
    uptime_seconds: 61.4,
  },
};

describe("statsTable", () => {
  it("has a line a sandbox, against its limits", () => {
    const [, line = ""] = statsTable([row]).split("\n");
    expect(line.split(/ {2,}/)).toEqual([
      ...["sbx-1", "web", "docker", "session", "150.5 of 200", "40.1 of 512", "0 B/1023 B", "1.5 MB/-", "61 s"],
    ]);
  });

  it("shows what is not known yet as such", () => {
    const [, line = ""] = statsTable([{ ...row, name: null, sample: null }]).split("\n");
    expect(line.split(/ {2,}/).slice(1)).toEqual(["-", "docker", "session", "- of 200", "- of 512", "-/-", "-/-", "-"]);
  });
});
