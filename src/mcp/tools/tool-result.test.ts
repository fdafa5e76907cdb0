import { expect, it } from "vitest";
import { KeptTexts } from "../../calls/kept-texts.ts";
import type { RunningCall } from "../../calls/running-call.ts";
import { readLogsContract, type ReadLogsResponse } from "../../operations/logs/read-logs-contract.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { toolResult } from "./tool-result.ts";

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
