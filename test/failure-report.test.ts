import { describe, expect, it } from "vitest";
import { failureReport } from "../scripts/failure-report.ts";

const file = (name: string, status: string, assertionResults: object[], message = ""): object => ({
  name: `/project/${name}`,
  status,
  assertionResults,
  message,
});

describe("failureReport", () => {
  it("names each failed test with its reason, and a file that could not be loaded", () => {
    const text = JSON.stringify({
      testResults: [
        file("a.test.ts", "failed", [
          { fullName: "adds", status: "failed", failureMessages: ["expected 1\nto be 2"] },
          { fullName: "subtracts", status: "passed" },
        ]),
        file("b.test.ts", "failed", [], "no such module"),
        file("c.test.ts", "passed", [{ fullName: "holds", status: "passed" }]),
      ],
    });
    expect(failureReport(text, "/project")).toEqual([
      "failed: a.test.ts > adds\n  expected 1\n  to be 2",
      "failed: b.test.ts\n  no such module",
    ]);
  });

  it("shortens endless reasons", () => {
    const failureMessages = ["line\n".repeat(1000)];
    const assertionResults = [{ fullName: "floods", status: "failed", failureMessages }];
    const text = JSON.stringify({ testResults: [file("a.test.ts", "failed", assertionResults)] });
    expect(failureReport(text, "/project")[0]?.split("\n").length).toBeLessThan(40);
  });
});
