import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { e2bCommit, parseSuiteReport, type ClientResults } from "../scripts/e2b-suite.ts";
import { withE2bTable } from "../scripts/e2b-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (name: string): string => readFileSync(join(projectFolder, "docs", name), "utf8");

it("docs/clients.md has what E2B's own tests said", () => {
  const results = JSON.parse(read("../bench/results/clients.json")) as ClientResults;
  expect(results.commit).toBe(e2bCommit);
  expect(Object.keys(results.engines)).toEqual(expect.arrayContaining(["docker", "local"]));
  const text = read("clients.md");
  expect(text, "stale: run npm run clients").toBe(withE2bTable(text, results));
});

it("a report counts what failed, what was skipped and what could not run at all", () => {
  const report = {
    testResults: [
      {
        name: "/suite/tests/sandbox/b.test.ts",
        assertionResults: [
          { fullName: "one", status: "passed" },
          { fullName: "two", status: "skipped" },
          { fullName: "three", status: "failed", failureMessages: ["Error: at 127.0.0.1:8421\n    at x"] },
        ],
      },
      { name: "/suite/tests/api/a.test.ts", message: "SyntaxError: no", assertionResults: [] },
    ],
  };
  expect(parseSuiteReport(JSON.stringify(report), "/suite")).toEqual([
    { file: "api/a", passed: 0, skipped: 0, failed: [{ name: "the file", message: "SyntaxError: no" }] },
    { file: "sandbox/b", passed: 1, skipped: 1, failed: [{ name: "three", message: "Error: at SERVER" }] },
  ]);
  expect(() => parseSuiteReport("{}", "/suite")).toThrow("testResults");
  const text = withE2bTable("<!-- generated:e2b-suite -->\n<!-- /generated:e2b-suite -->", {
    commit: e2bCommit,
    engines: { local: parseSuiteReport(JSON.stringify(report), "/suite") },
  });
  expect(text).toContain("1 of 3 on local");
  expect(text).toContain("| `sandbox/b` | 1 of 2 | Error: at SERVER |");
});
