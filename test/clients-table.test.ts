import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { abortedAtExit, reasonOf, withClientsTable, type ClientRow } from "../scripts/clients-table.ts";
import { programs } from "../scripts/foreign-clients.ts";
import { countOf, pythonSuites } from "../scripts/python-suites.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (name: string): string => readFileSync(join(projectFolder, name), "utf8");

it("docs/clients.md has what each client said, with a reason for each failure", () => {
  const rows = JSON.parse(read("bench/results/other-clients.json")) as ClientRow[];
  const wanted = [...programs, ...pythonSuites].map(({ name }) => name);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  const text = read("docs/clients.md");
  expect(text, "stale: run npm run clients").toBe(withClientsTable(text, rows));
});

it("a report in JUnit XML counts what failed, what was skipped and what could not be read at all", () => {
  const cases = [
    '<testcase classname="tests.a" name="one"/>',
    '<testcase classname="tests.a" name="two"><skipped/></testcase>',
    '<testcase classname="tests.a" name="pauses"><failure message="E: at 127.0.0.1:1&#10;x">long</failure></testcase>',
    '<testcase classname="" name="tests.b"><error message="collection failure">long</error></testcase>',
  ];
  const count = countOf(`<testsuites><testsuite name="pytest">${cases.join("")}</testsuite></testsuites>`);
  expect(count).toEqual({
    passed: 1,
    skipped: 1,
    failed: [
      { test: "tests.a > pauses", message: "E: at SERVER" },
      { test: "pytest > tests.b", message: "collection failure" },
    ],
  });
  expect(() => countOf("<testsuites/>")).toThrow("no tests");
  const engines = { local: { ...count, failed: count.failed.slice(0, 1) } };
  const text = withClientsTable("<!-- generated:clients -->\n<!-- /generated:clients -->", [
    { name: "some", package: "some==1", engines },
  ]);
  expect(text).toContain("| some | `some==1` | local | 1 | 1 | 1 | 1 needs pausing |");
  expect(reasonOf({ test: "watch.py", message: abortedAtExit })).toMatch(/^aborts at its exit/);
  expect(() => reasonOf({ test: "tests.b", message: "collection failure" })).toThrow("No reason is known for tests.b");
});
