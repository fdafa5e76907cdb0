import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { maxReports, reportKeys, verifiedReport } from "../test-phase.ts";

const derive = (seed: string, purpose: string): string => createHmac("sha256", seed).update(purpose).digest("hex");
const signed = (body: string, key: string): Buffer =>
  Buffer.from(`${createHmac("sha256", key).update(body).digest("hex")}\n${body}`);

it("each runner has a file and a key of its own, which grow from the seed that it found", () => {
  const keys = reportKeys("seed");
  expect(keys).toHaveLength(maxReports);
  expect(new Set(keys.flatMap(({ file, key }) => [file, key])).size).toBe(2 * maxReports);
  expect(keys[0]?.key).toBe(derive("seed", "key"));
  expect(reportKeys(derive("seed", "next"))[0]).toEqual(keys[1]);
});

it("a report counts only as it was signed, by the key of its runner", () => {
  const [first, second] = reportKeys("seed");
  const report = signed('{"tests":[]}', first?.key ?? "");
  expect(Buffer.from(verifiedReport(report, first?.key ?? "") ?? []).toString()).toBe('{"tests":[]}');
  expect(verifiedReport(report, second?.key ?? "")).toBeNull();
  expect(verifiedReport(Buffer.concat([report, Buffer.from(" ")]), first?.key ?? "")).toBeNull();
  expect(verifiedReport(Buffer.from('{"tests":[]}'), first?.key ?? "")).toBeNull();
  expect(verifiedReport(new Uint8Array(), first?.key ?? "")).toBeNull();
});
