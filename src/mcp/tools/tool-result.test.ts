import { expect, it, describe } from "vitest";
import { KeptTexts } from "../../calls/kept-texts.ts";
import type { RunningCall } from "../../calls/running-calls.ts";
import { readLogsContract, type ReadLogsResponse } from "../../operations/logs-contract.ts";
import type { OfferedTool } from "./tool-profiles.ts";
import { toolResult, shorten } from "./tool-result.ts";

const tool = readLogsContract.tool as OfferedTool["tool"];
const call = { id: "run-1", principal: "p", operation: "read_logs" } as RunningCall;

/** A log of lines, of which the third is missing with the two after it. */
const entries = Array.from({ length: 3_000 }, (_, index) => index)
  .filter((offset) => offset !== 4 && offset !== 5)
  .map((offset) => ({
    ...{ container_id: "sbx-1", offset, timestamp: "2026-01-01T00:00:00.000Z", stream: "stdout" as const },
    ...{ message: `line ${offset}`, ...(offset === 3 ? { dropped: 3 } : {}) },
  }));

function read(offset: number) {
  const response: ReadLogsResponse = {
    container_id: "sbx-1",
    entries: entries.filter((entry) => entry.offset >= offset),
    next_offset: 3_000,
    is_over: true,
  };
  const texts = new KeptTexts(() => 0);
  return toolResult({ response }, { tool, call, texts });
}

it("a log that is longer than an answer is read on without a gap from the offset that each answer names", () => {
  const seen: number[] = [];
  let answers = 0;
  for (let offset = 0; offset < 3_000; answers++) {
    const { structuredContent, content } = read(offset);
    const page = structuredContent as ReadLogsResponse;
    expect(page.entries.length).toBeGreaterThan(0);
    expect(JSON.stringify(structuredContent).length).toBeLessThan(30_000);
    seen.push(...page.entries.map((entry) => entry.offset));
    offset = page.next_offset;
    expect(page.is_over).toBe(offset === 3_000);
    const [text] = content;
    expect(text).toMatchObject({
      text: expect.stringContaining(page.is_over ? "Nothing follows." : `More: offset ${offset}.`),
    });
  }
  expect(answers).toBeGreaterThan(3);
  expect(seen).toEqual(entries.map(({ offset }) => offset));
});

const limits = { total: 2000, text: 1000 };

describe("a response", () => {
  it("that is short stays as it is", () => {
    const value = { stdout: "a".repeat(1000), list: [1, 2], nested: { none: null, yes: true } };
    expect(shorten(value, limits)).toEqual({ value, cuts: [] });
  });

  it("keeps the head and the tail of a long text", () => {
    const whole = `${"h".repeat(5000)}${"t".repeat(5000)}`;
    const { value, cuts } = shorten({ stdout: whole, stderr: "x" }, limits);
    const { stdout } = value as { stdout: string };
    expect(stdout).toMatch(/^h{600}\n\[\.\.\. 9000 characters left out \.\.\.\]\nt{400}$/);
    expect(cuts).toEqual([{ field: "stdout", unit: "characters", kept: 1000, total: 10_000, whole, mediaType: null }]);
  });

  it("keeps the first items of a long list", () => {
    const files = Array.from({ length: 500 }, (_, index) => ({ name: `f${index}` }));
    const { value, cuts } = shorten({ files }, limits);
    expect((value as { files: unknown[] }).files).toEqual(files.slice(0, 100));
    expect(cuts).toMatchObject([{ field: "files", unit: "items", kept: 100, total: 500 }]);
    expect(JSON.parse(cuts[0]!.whole)).toEqual(files);
  });

  it("keeps less of a stream, and of a tail its end", () => {
    const whole = `${"h".repeat(5000)}${"t".repeat(5000)}`;
    const { value } = shorten(
      { stderr: whole, stdout_tail: whole, details: whole },
      { ...limits, total: 9000, stream: 400 },
    );
    expect(value).toEqual({
      stderr: `${"h".repeat(240)}\n[... 9600 characters left out ...]\n${"t".repeat(160)}`,
      stdout_tail: `\n[... 9600 characters left out ...]\n${"t".repeat(400)}`,
      details: expect.stringMatching(/^h{600}\n.*\nt{400}$/),
    });
  });

  it("is cut more where there are many long texts", () => {
    const value = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, "x".repeat(900)]));
    const result = shorten(value, limits);
    expect(JSON.stringify(result.value).length).toBeLessThanOrEqual(limits.total);
    expect(result.cuts.map(({ field, total }) => [field, total])).toEqual(
      Object.keys(value).map((field) => [field, 900]),
    );
  });

  it("never ends in half a character", () => {
    for (let shift = 0; shift < 2; shift += 1) {
      const { value } = shorten({ text: `${"a".repeat(shift)}${"😀".repeat(2000)}` }, limits);
      expect((value as { text: string }).text.isWellFormed()).toBe(true);
    }
  });
});
