import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyFolder } from "../../src/workloads/project/copy-project.ts";
import { Checkout } from "../helpers/checkout.ts";

/** A runner that prints a line for each of its tests. */
const tally = `#!/bin/sh
[ "$1" = check ] || exit 2
echo "good: adds"
echo "bad: divides"
exit 1
`;

/** Its row: what it prints is its report. */
const row = `  {
    name: "tally",
    command: /\\btally check\\b/,
    planted: [".tallyrc"],
    tool: {
      subcommands: ["check"],
      parse: (text) => ({
        runner: "tally",
        tests: text.split("\\n").flatMap((line) => {
          const [, word, name] = /^(good|bad): (\\w+)$/.exec(line) ?? [];
          if (name === undefined) return [];
          const place = { file: null, line: null, durationMs: null, message: null, details: null };
          return [{ name, suite: [], status: word === "good" ? "passed" : "failed", ...place }];
        }),
        unfinished: [],
        coverage: null,
      }),
      isForPeople: true,
    },
  },`;

const call = `
import { createGlovebox } from "./src/index.ts";
await using glovebox = await createGlovebox({ engine: "local" });
const { verdict, countedFrom, passed, failed, runners, failures } = await glovebox.tests.run({
  projectPath: "project",
  testCommand: "tally check",
  environment: { PATH: "${copyFolder}:/usr/bin:/bin" },
});
console.log(JSON.stringify({ verdict, countedFrom, passed, failed, runners, failures: failures.map(({ name }) => name) }));
`;

describe("the recipe of a test runner, followed in a copy of the sources, on engine local", () => {
  const checkout = new Checkout();
  afterAll(() => checkout.remove());

  beforeAll(() => {
    checkout.add("project/tally", tally, 0o755);
    checkout.addRow("src/workloads/tests/runner-table.ts", {
      after: "export const runnerTable: readonly TestRunner[] = [",
      row,
    });
  });

  it("makes one whose tests are counted by name", async () => {
    expect(JSON.parse(await checkout.print(call))).toEqual({
      verdict: "failed",
      countedFrom: "output",
      passed: 1,
      failed: 1,
      runners: ["tally"],
      failures: ["divides"],
    });
  });
});
