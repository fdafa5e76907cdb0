import { expect, it } from "vitest";
import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { denial } from "../../policy/network/denial.ts";
import { Redaction } from "../../policy/redaction.ts";
import { noNetworkReport, type NetworkReport } from "../run/network-report.ts";
import { explainInstallation } from "./install-dependencies.ts";
import type { EndedLine } from "./run-line.ts";

function ended(words: string, networkReport: NetworkReport = noNetworkReport): EndedLine {
  const output = new BoundedOutput(1000);
  output.append(Buffer.from(words));
  const streams = { stdout: output, stderr: output };
  const end = { ...streams, exitCode: 1, interruption: null, durationMs: 1 } as EndedLine["end"];
  return { end, output, redaction: new Redaction([]), networkReport, isGone: true };
}

it("says in its first line what failed, and then what the installer said", () => {
  const { message, suggestion } = explainInstallation(
    "npm ci &&\n  npm run build",
    ended("npm error 403\nnpm error x\n"),
  );
  expect(message).toBe(
    "The installation (npm ci && npm run build) ended with exit code 1.\nnpm error 403\nnpm error x",
  );
  expect(suggestion).toContain("`setup_command`");
});

it("names in its first line each host that was refused, once, and says what would allow it", () => {
  const denials = ["a", "a", "b", "c", "d"].map((name) => denial("not_allowed", `${name}.example:443`, "No.", "Ask."));
  const report = { denials, denialCount: 7, isLost: false };
  const { message, suggestion, context } = explainInstallation("npm ci", ended("npm error", report));
  expect(message.split("\n")).toEqual([
    "The installation (npm ci) ended with exit code 1, after its connections to a.example:443, b.example:443, c.example:443 and 1 more were refused.",
    "npm error",
  ]);
  expect(suggestion).toBe("Ask.");
  expect(context).toEqual({ denials, denial_count: 7 });
});
