import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { clientSuites, parseSuiteReport, type ClientResults } from "../scripts/e2b-suite.ts";
import { withSuiteTable } from "../scripts/e2b-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (name: string): string => readFileSync(join(projectFolder, "docs", name), "utf8");

it.each(clientSuites)("docs/clients.md has what the tests of $name said", ({ name, commit }) => {
  const results = (JSON.parse(read("../bench/results/clients.json")) as ClientResults)[name];
  if (results === undefined) throw new Error(`expected results of ${name}: run npm run clients`);
  expect(results.commit).toBe(commit);
  expect(Object.keys(results.engines)).toEqual(expect.arrayContaining(["docker", "local"]));
  const text = read("clients.md");
  expect(text, "stale: run npm run clients").toBe(withSuiteTable(text, name, results));
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
  const text = withSuiteTable("<!-- generated:s -->\n<!-- /generated:s -->", "s", {
    commit: "b8029973aa7d",
    engines: { local: parseSuiteReport(JSON.stringify(report), "/suite") },
  });
  expect(text).toContain("1 of 3 on local");
  expect(text).toContain("| `sandbox/b` | 1 of 2 | Error: at SERVER |");
});
