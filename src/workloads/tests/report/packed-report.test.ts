import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { maxPackedBytes, packReport, unpackReport } from "./packed-report.ts";
import type { TestEntry } from "./test-report.ts";

const run = { startMs: 1, stopMs: 2 };
const entry = (number: number, more: Partial<TestEntry> = {}): TestEntry => ({
  ...{ name: `test_matrix[${number}-${number % 7}]`, suite: ["test_matrix.py"], file: "test_matrix.py", line: 4 },
  ...{ status: "passed", durationMs: (number % 100) / 10, message: null, details: null },
  ...more,
});
const noise = (bytes: number): string => randomBytes(bytes).toString("base64");
const pack = (tests: readonly TestEntry[]): Uint8Array | null =>
  packReport([{ runner: "pytest", tests, unfinished: [], coverage: null }], run);
const testsOf = async (packed: Uint8Array | null): Promise<readonly Record<string, unknown>[]> => {
  const { results } = JSON.parse(await unpackReport(packed ?? new Uint8Array())) as {
    readonly results: { readonly tests: readonly Record<string, unknown>[] };
  };
  return results.tests;
};

describe("a report that is kept", () => {
  it("has every test of 63,740", async () => {
    const packed = pack(Array.from({ length: 63_740 }, (_, number) => entry(number)));
    expect(packed?.length).toBeLessThan(maxPackedBytes / 2);
    const tests = await testsOf(packed);
    expect(tests).toHaveLength(63_740);
    expect(tests.at(-1)).toMatchObject({ name: "test_matrix[63739-4]", status: "passed", filePath: "test_matrix.py" });
  });

  it("goes without details, then without messages, where there are too many, and is not kept beyond that", async () => {
    const failed = { status: "failed", message: "expected 1" } as const;
    const detailed = Array.from({ length: 300 }, (_, number) => entry(number, { ...failed, details: noise(12_000) }));
    expect((await testsOf(pack(detailed)))[299]).toEqual(expect.objectContaining({ message: "expected 1" }));
    expect((await testsOf(pack(detailed)))[299]).not.toHaveProperty("trace");
    const wordy = detailed.map((test) => ({ ...test, message: noise(12_000) }));
    expect((await testsOf(pack(wordy)))[299]).not.toHaveProperty("message");
    expect(pack(detailed.map((test) => ({ ...test, name: noise(12_000) })))).toBeNull();
  });

  it("is read only up to its limit, and only as it was made", async () => {
    await expect(unpackReport(gzipSync(Buffer.alloc(65 * 1024 * 1024)))).rejects.toThrow(/larger than/);
    await expect(unpackReport(Buffer.from("{}"))).rejects.toThrow(/header/);
  });
});
