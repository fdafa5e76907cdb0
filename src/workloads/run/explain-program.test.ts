import { describe, expect, it } from "vitest";
import { BoundedOutput } from "../../base/streams/bounded-output.ts";
import { defaultLimits } from "../../policy/limits/limits.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { toolchains } from "../program/languages.ts";
import { explainProgram } from "./explain-program.ts";
import type { NetworkReport } from "./explain-network.ts";

function explained(
  outcome: Outcome,
  stderr = "",
  exitCode: number | null = 1,
  report: Partial<NetworkReport> = {},
  isRemoved = false,
): ReturnType<typeof explainProgram> {
  const output = new BoundedOutput(10_000);
  output.append(Buffer.from(stderr));
  const run = {
    outcome,
    end: { interruption: null, exitCode, stdout: new BoundedOutput(1), stderr: output, durationMs: 1 },
    policyDigest: "",
    isRemoved,
    memoryPeakBytes: 500 * 1024 * 1024,
    networkReport: { denials: [], denialCount: 0, isLost: false, ...report },
  };
  return explainProgram(run, {
    toolchain: "python",
    limits: defaultLimits.execute,
    network: { kind: "none" },
    files: [{ path: "main.py", content: Buffer.from("x = (\n") }],
  });
}

describe("explainProgram", () => {
  it("names the refused host, the rule and the remedy", () => {
    const denials = [
      { target: "a.example:443", rule: "not_allowed", reason: "It is not on the list.", remedy: "Add it." },
    ] as const;
    expect(explained("policy_denied", "", 1, { denials, denialCount: 3 })).toMatchObject({
      errorType: "NETWORK_ERROR",
      message: expect.stringMatching(/a\.example:443.*not on the list.*3 connections/),
      suggestion: "Add it.",
      context: { denials, denial_count: 3 },
    });
  });

  it("tells a program whose proxy had gone from others", () => {
    expect(explained("failed", "x", 1, { isLost: true })).toMatchObject({
      errorType: "NETWORK_ERROR",
      context: { reason: "egress_proxy_failed", retryable: true },
    });
  });

  it("has nothing to say of a run that completed or simply failed", () => {
    expect(explained("completed", "", 0)).toBeNull();
    expect(explained("failed", "ValueError: x\n")).toBeNull();
  });

  it("tells a sandbox that was removed from one that went away", () => {
    expect(explained("sandbox_lost", "", null)).toMatchObject({ message: expect.stringContaining("went away") });
    expect(explained("sandbox_lost", "", null, {}, true)).toMatchObject({
      errorType: "SANDBOX_LOST",
      message: "The sandbox was removed while the program ran.",
      context: { reason: "removed", retryable: false },
    });
    expect(explained("completed", "", 0, {}, true)).toBeNull();
  });

  it("says for running out of time and memory what the limit was", () => {
    expect(explained("timed_out")).toMatchObject({
      errorType: "TIMEOUT",
      message: expect.stringContaining("30 s"),
      context: { timeout_seconds: 30, retryable: false },
    });
    expect(explained("oom_killed")).toMatchObject({
      errorType: "OOM_KILLED",
      context: { limit_mb: 512, peak_mb: 500, retryable: false },
    });
  });

  it("says that the image lacks the interpreter", () => {
    const words = `sh: 1: exec: ${toolchains.python.interpreter}: not found\n`;
    expect(explained("failed", words, 127)).toMatchObject({ errorType: "UNSUPPORTED" });
    expect(explained("failed", words, 1)).toBeNull();
    expect(explained("failed", "sh: 1: make: not found\n", 127)).toBeNull();
  });

  it("says whether a retry makes sense", () => {
    expect(explained("sandbox_lost", "", null)?.context["retryable"]).toBe(true);
    expect(explained("timed_out")?.context["retryable"]).toBe(false);
  });

  it("names the place of a syntax error", () => {
    const stderr = `  File "/work/main.py", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n`;
    expect(explained("failed", stderr)).toMatchObject({
      errorType: "SYNTAX_ERROR",
      message: "main.py:1:5: '(' was never closed",
      context: { file: "main.py", line: 1, column: 5 },
    });
  });
});
