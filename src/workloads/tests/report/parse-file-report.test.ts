import { expect, it } from "vitest";
import { parseFileReport } from "./parse-file-report.ts";
import { countTests } from "./test-report.ts";

const junit = `<?xml version="1.0"?><testsuite name="Cart"><properties/>
<testcase name="adds" classname="shop.Cart" time="0.5"/>
<testcase name="fails" file="/work/project/cart.py" line="3"><failure message="no &lt;b&gt;">expected 1, got 2</failure></testcase>
<testcase name="errs"><error>no set-up</error></testcase><testcase name="waits"><skipped/></testcase></testsuite>`;

it("JUnit XML is read as other tools write it", () => {
  const { runner, tests } = parseFileReport(junit, "/work/project");
  expect(runner).toBe("junit");
  expect(countTests(tests)).toMatchObject({ passed: 1, failed: 1, error: 1, skipped: 1 });
  expect(tests[0]).toMatchObject({ name: "adds", suite: ["shop.Cart"], durationMs: 500 });
  expect(tests[1]).toMatchObject({
    suite: ["Cart"],
    file: "cart.py",
    line: 3,
    message: "no <b>",
    details: "expected 1, got 2",
  });
});

it("CTRF is read as other tools write it", () => {
  const tests = [
    { name: "adds", status: "passed", duration: 5, suite: "cart" },
    { name: "fails", status: "failed", message: "no", trace: "at line 3", suite: ["cart", "sums"] },
    { name: "waits", status: "pending" },
  ];
  const read = parseFileReport(JSON.stringify({ results: { tool: { name: "mytool" }, tests } }), "/work/project");
  expect(read.runner).toBe("mytool");
  expect(countTests(read.tests)).toMatchObject({ passed: 1, failed: 1, todo: 1 });
  expect(read.tests[1]).toMatchObject({ suite: ["cart", "sums"], message: "no", details: "at line 3" });
});

it.each([
  ["an entity of its own", '<!DOCTYPE t [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>'],
  [
    "a file of the machine",
    '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="x">&a;</testcase></testsuite>',
  ],
  ["suites without end", `${"<testsuite name='a'>".repeat(300)}${"</testsuite>".repeat(300)}`],
  ["another document", "<html/>"],
  ["nothing", ""],
  ["other JSON", "{}"],
  ["a status that is none", '{"results":{"tests":[{"name":"a","status":"PASS"}]}}'],
  ["text", "5 passed"],
])("%s is no report", (_, text) => {
  expect(() => parseFileReport(text, "/work/project")).toThrow(Error);
});
