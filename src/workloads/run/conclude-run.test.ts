import { beforeEach, describe, expect, it } from "vitest";
import type { Logger } from "../../base/logger.ts";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { denial } from "../../policy/network/denial.ts";
import { noNetworkReport } from "./network-report.ts";
import { concludeRun, loggingFailure, type RunIds } from "./conclude-run.ts";

const lines: unknown[] = [];
const log = (fields: unknown, message: string): number => lines.push([fields, message]);
const logger: Logger = { debug: log, info: log, warn: log, error: log };
beforeEach(() => void lines.splice(0));

it("logs the end of a run in one line, with the first refusals and the count of all", () => {
  const ids = { principal: "one", sandbox: "sbx-1" };
  const end = { exitCode: 1, durationMs: 5, interruption: null, stdout: new RingOutput(1), stderr: new RingOutput(1) };
  const run = { end, outcome: "failed", memoryPeakBytes: null, isRemoved: false, policyDigest: "d" } as const;
  const conclusion = { ids, logger, explain: () => null };
  concludeRun({ ...run, networkReport: noNetworkReport }, conclusion);
  const denials = [denial("port", "a.test:1", "Why.", "What.")];
  concludeRun({ ...run, networkReport: { ...noNetworkReport, denials, denialCount: 7 } }, conclusion);
  const fields = { ...ids, outcome: "failed", exitCode: 1, durationMs: 5 };
  expect(lines).toEqual([
    [fields, "run ended"],
    [{ ...fields, refusedCount: 7, refused: [{ rule: "port", target: "a.test:1" }] }, "run ended"],
  ]);
});

describe("a run that throws", () => {
  const thrower = (error: unknown, sandbox?: string): Promise<void> => {
    const ids: RunIds = { principal: "one", session: "ses-1" };
    return loggingFailure(logger, ids, async () => {
      if (sandbox !== undefined) ids.sandbox = sandbox;
      throw error;
    });
  };

  it.each([
    ["CANCELLED", "cancelled"],
    ["SANDBOX_LOST", "sandbox_lost"],
    ["ENGINE_UNAVAILABLE", "sandbox_lost"],
    ["POLICY_DENIED", "policy_denied"],
    ["IMAGE_UNAVAILABLE", "failed"],
  ] as const)("ends its log with its ids and the verdict: %s", async (errorType, outcome) => {
    const error = new GloveboxError(errorType, "Why.");
    await expect(thrower(error, "sbx-1")).rejects.toBe(error);
    const ids = { principal: "one", session: "ses-1", sandbox: "sbx-1" };
    expect(lines).toEqual([[{ ...ids, outcome, exitCode: null, errorType, reason: "Why." }, "run ended"]]);
  });

  it("shows nothing of an error that nobody foresaw, which is thrown on as it is", async () => {
    const error = new Error("secret");
    await expect(thrower(error)).rejects.toBe(error);
    expect(lines).toMatchObject([[{ outcome: "failed", errorType: "INTERNAL" }, "run ended"]]);
    expect(JSON.stringify(lines)).not.toContain("secret");
    expect(lines).not.toHaveProperty("0.0.sandbox");
  });

  it("that does not throw logs nothing more", async () => {
    expect(await loggingFailure(logger, { principal: "one" }, () => Promise.resolve(7))).toBe(7);
    expect(lines).toEqual([]);
  });
});
