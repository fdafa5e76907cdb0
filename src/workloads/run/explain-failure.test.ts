import { describe, expect, it } from "vitest";
import { explainFailure } from "./explain-failure.ts";

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

  it("quotes the line that says it", () => {
    expect(explainFailure("a\nOSError: [Errno 30] Read-only file system: '/etc/x'\n")?.message).toContain("'/etc/x'");
  });
});
