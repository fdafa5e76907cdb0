import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { unpackReport } from "./packed-report.ts";
import { readReports, type RawReport } from "./read-reports.ts";

const bytesOfFixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../../test/fixtures/test-reports/${name}`, import.meta.url));
const read = (reports: readonly RawReport[], more: { readonly signal?: AbortSignal } = {}) =>
  readReports(reports, {
    folder: "/work/project",
    wanted: { ctrf: true, junit: true },
    startMs: 1,
    stopMs: 2,
    executable: process.execPath,
    platform: process.platform,
    ...more,
  });

describe("reading reports in a process of its own", () => {
  it("gives the counts of each runner, the failures and the whole in both formats", async () => {
    const found = await read([
      { format: "glovebox", bytes: bytesOfFixture("pytest.json") },
      { format: "bun", bytes: bytesOfFixture("bun.xml") },
    ]);
    expect(found?.runs.map(({ runner, counts }) => [runner, counts.passed])).toEqual([
      ["pytest", 4],
      ["bun", 4],
    ]);
    expect(found?.failures).toHaveLength(5);
    expect(found?.ctrf).toContain('"summary":{"tests":17,');
    expect(found?.junit?.match(/<testcase /g)).toHaveLength(17);
    expect(await unpackReport(found?.packed ?? new Uint8Array())).toBe(found?.ctrf);
  });

  it("refuses what is no report, and what is too much for it", async () => {
    expect(await read([{ format: "glovebox", bytes: Buffer.from("{") }])).toBeNull();
    const nested = Buffer.from(`{"runner":"a","tests":${"[".repeat(1_000_000)}`);
    expect(await read([{ format: "glovebox", bytes: nested }])).toBeNull();
  });

  it("can be given up", async () => {
    await failureOf(read([], { signal: AbortSignal.abort() }), "CANCELLED");
  });
});
