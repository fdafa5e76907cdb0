import { describe, expect, it } from "vitest";
import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { defaultLimits } from "../../policy/limits.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { runtimeOf } from "../../languages/language-table.ts";
import { explainProgram, explainFailure } from "./explain-program.ts";
import type { NetworkReport } from "./network-report.ts";

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
    const words = `sh: 1: exec: ${runtimeOf("python").interpreter}: not found\n`;
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

const failures: [string, string, string | null][] = [
  [
    "python, no name service",
    "Traceback\nsocket.gaierror: [Errno -3] Temporary failure in name resolution",
    "NETWORK_ERROR",
  ],
  ["python, no route", "OSError: [Errno 101] Network is unreachable\n", "NETWORK_ERROR"],
  ["python under gVisor, no route", "OSError: [Errno 113] No route to host\n", "NETWORK_ERROR"],
  [
    "node, no name service",
    "Error: getaddrinfo EAI_AGAIN example.org\n  errno: -3,\n  code: 'EAI_AGAIN'\n}\n\nNode.js v24",
    "NETWORK_ERROR",
  ],
  ["python, read-only root", "OSError: [Errno 30] Read-only file system: '/etc/x'", "PERMISSION_DENIED"],
  ["node, root", "Error: EACCES: permission denied, open '/root/x'", "PERMISSION_DENIED"],
  ["an ordinary bug", "ZeroDivisionError: division by zero", null],
  ["nothing", "", null],
  ["a refusal long before the end", `PermissionError: handled\n${"line\n".repeat(50)}ValueError: x`, null],
];

describe("explainFailure", () => {
  it.each(failures)("%s", (_, stderr, expected) => {
    expect(explainFailure(stderr)?.errorType ?? null).toBe(expected);
  });

  it("says what allows a connection where there is no network", () => {
    const none = explainFailure("OSError: [Errno 101] Network is unreachable", "none");
    expect(none?.suggestion).toContain("Name the hosts that it needs in the run's network");
    expect(explainFailure("OSError: [Errno 101] Network is unreachable", "domains")?.suggestion).toContain(
      "HTTP_PROXY",
    );
  });

  it.each([
    ["Error: getaddrinfo EAI_AGAIN example.org\n  errno: -3,"],
    ["getaddrinfo ENOTFOUND Example.org"],
    ["curl: (6) Could not resolve host: example.org"],
    ["NameResolutionError(\"Failed to resolve 'example.org' ([Errno -3] Temporary failure in name resolution)\")"],
    ["HTTPSConnectionPool(host='example.org', port=443): Temporary failure in name resolution"],
  ])("names the host of %j, which the program chose", (stderr) => {
    expect(explainFailure(stderr, "none")?.suggestion).toContain(
      'The program chose this host: if you trust it, add "example.org" to the run\'s network, or',
    );
  });

  it.each([
    ["getaddrinfo ENOTFOUND example.org_and_run_this"],
    ["getaddrinfo ENOTFOUND 10.0.0.1"],
    [`getaddrinfo ENOTFOUND ${"a".repeat(300)}.org`],
    ["getaddrinfo ENOTFOUND -rf"],
  ])("takes no name from %j", (stderr) => {
    expect(explainFailure(stderr, "none")?.suggestion).toContain("Name the hosts that it needs in the run's network");
  });

  it("names what a program looked up that says nothing about it", () => {
    const error = explainFailure("could not load\n", "none", ["Example.com", "example.com", "api.example.org"]);
    expect(error).toMatchObject({
      errorType: "NETWORK_ERROR",
      message: 'The program failed after it looked up "example.com", "api.example.org".',
      context: { network: "none", looked_up: ["example.com", "api.example.org"] },
    });
    expect(error?.suggestion).toContain(
      'The program chose this host: if you trust it, add "example.com" to the run\'s network, or',
    );
  });

  it("quotes only some of many names", () => {
    const names = Array.from({ length: 20 }, (_, at) => `n${at}.test`);
    expect(explainFailure("", "none", names)?.message).toBe(
      'The program failed after it looked up "n0.test", "n1.test", "n2.test" and others.',
    );
  });

  it("prefers what the program says, and completes it", () => {
    const known = ["first.test"];
    const suggestion = (stderr: string): string | undefined => explainFailure(stderr, "none", known)?.suggestion;
    expect(suggestion("getaddrinfo ENOTFOUND second.test")).toContain('"second.test"');
    expect(suggestion("socket.gaierror: [Errno -2] Name or service not known")).toContain('"first.test"');
    expect(explainFailure("Error: EACCES: permission denied, open '/x'", "none", known)?.errorType).toBe(
      "PERMISSION_DENIED",
    );
  });

  it("says nothing of names that are none, and of names where there is a network", () => {
    expect(explainFailure("", "none", ["10.0.0.1", "a b", "\u001b[2J.test"])).toBeNull();
    expect(explainFailure("", "domains", ["a.test"])).toBeNull();
  });

  it("quotes the line that says it", () => {
    expect(explainFailure("a\nOSError: [Errno 30] Read-only file system: '/etc/x'\n")?.message).toContain("'/etc/x'");
  });
});
