import { describe, expect, it } from "vitest";
import { mebibyte } from "../../base/bytes.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Limits } from "../../policy/limits.ts";
import { openLargeScratch, type ScratchDemand } from "./watched-scratch.ts";

class Made extends Error {}

const quiet = (): void => undefined;
/** Whether a folder would be made for it, on an engine that can have one or cannot. */
async function makesOne(demand: ScratchDemand, serves = true): Promise<boolean> {
  const open = openLargeScratch({
    diskScratch: { serves: () => serves, make: () => Promise.reject(new Made()) },
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    ...{ platform: "linux", executable: "node", now: Date.now },
  });
  const result = await open(demand, {} as Capabilities).catch((error: unknown) => error);
  expect(result === null || result instanceof Made).toBe(true);
  return result !== null;
}

const limits = (diskMb: number): Limits => ({
  ...{ cpus: 1, pids: 10, timeoutMs: 1_000, memoryBytes: 100 * mebibyte, diskBytes: diskMb * mebibyte },
});

describe("openLargeScratch", () => {
  it.each([
    ["what is more than half of memory", limits(51), true, true, true],
    ["what memory has room for", limits(50), true, true, false],
    ["a default", limits(1_000), false, true, false],
    ["an engine that can have none", limits(1_000), true, false, false],
  ])("for %s", async (_, wanted, isDiskNamed, serves, expected) => {
    expect(await makesOne({ limits: wanted, isDiskNamed }, serves)).toBe(expected);
  });
});
