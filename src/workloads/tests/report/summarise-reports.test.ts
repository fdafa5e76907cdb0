import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { countTests, type TestReport, parseReport } from "./test-report.ts";
import { parseBunReport, maxFailures, summariseReports, toJunit, parseFileReport } from "./summarise-reports.ts";
import { toCtrf } from "./packed-report.ts";

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../test/fixtures/test-reports/${name}`, import.meta.url), "utf8");
const read = (name: string): TestReport =>
  name.endsWith(".xml") ? parseBunReport(fixture(name)) : parseReport(fixture(name), "/work/project");
const ctrfOf = (report: TestReport) =>
  JSON.parse(toCtrf([report], { startMs: 1, stopMs: 2 })) as {
    readonly results: { readonly tests: readonly { readonly name: string }[]; readonly summary: object };
  };
const odd = "takes <b>&\"'";

// Left by the runners themselves, for the projects of test/fixtures/test-projects.
const runners = [
  ["pytest.json", { passed: 4, failed: 1, skipped: 1, todo: 0, other: 1, error: 2 }],
  ["jest.json", { passed: 4, failed: 2, skipped: 1, todo: 1, other: 0, error: 1 }],
  ["vitest.json", { passed: 4, failed: 2, skipped: 1, todo: 1, other: 0, error: 1 }],
  ["mocha.json", { passed: 4, failed: 2, skipped: 2, todo: 0, other: 0, error: 0 }],
  ["node-test.json", { passed: 4, failed: 3, skipped: 1, todo: 1, other: 0, error: 0 }],
  ["bun.xml", { passed: 4, failed: 2, skipped: 1, todo: 1, other: 0, error: 0 }],
] as const;

describe.each(runners)("the report %s", (name, counts) => {
  const report = read(name);

  it("counts as its runner does", () => {
    expect(countTests(report.tests)).toEqual(counts);
  });

  it("names the failing test, its file, its line, and what came instead", () => {
    const failed = report.tests.find((test) => test.status === "failed" && /fails/.test(test.name));
    expect(failed?.line).toBeGreaterThan(1);
    expect(failed?.file).toMatch(/^(?:tests?\/)?(?:test_)?kinds(?:\.test)?\.(?:py|js)$/);
    expect(`${failed?.message}\n${failed?.details}`).toMatch(/expected/i);
    expect(failed?.details).toMatch(/actual/);
  });

  it("keeps every test in both formats", () => {
    const ctrf = ctrfOf(report);
    expect(ctrf.results.tests.map(({ name: title }) => title)).toEqual(report.tests.map((test) => test.name));
    expect(ctrf.results.summary).toMatchObject({
      tests: report.tests.length,
      passed: counts.passed,
      failed: counts.failed + counts.error,
      skipped: counts.skipped,
      pending: counts.todo,
      other: counts.other,
    });
    // Our reader of JUnit reads what our writer wrote.
    const back = parseBunReport(toJunit([report]));
    expect(back.tests).toHaveLength(report.tests.length);
    expect(countTests(back.tests).passed).toBe(counts.passed);
    const clean = (text: string): string => text.replaceAll("\u0007", "\ufffd").replaceAll("\u001b", "\ufffd");
    expect(back.tests.map((test) => test.name).toSorted()).toEqual(
      report.tests.map((test) => clean(test.name)).toSorted(),
    );
  });
});

it("keeps odd names as they are, with groups, and writes no control character into XML", () => {
  const report = read("node-test.json");
  const test = report.tests.find(({ name }) => name.startsWith(odd));
  expect(test).toMatchObject({ name: `${odd}\u0007`, suite: ["a suite"] });
  expect(toJunit([report])).toContain("takes &lt;b&gt;&amp;&quot;&apos;\ufffd");
});

describe("a hostile report", () => {
  const one = (more: object): string =>
    JSON.stringify({ runner: "jest", unfinished: [], tests: [{ name: "a", status: "passed", ...more }] });

  it.each([
    ["no JSON", "passed"],
    ["no object", "null"],
    ["no list of tests", '{"runner":"jest","tests":{"length":3}}'],
    ["an unknown status", one({ status: "splendid" })],
    ["a name that is none", one({ name: { toString: "x" } })],
  ])("with %s is refused", (_, text) => {
    expect(() => parseReport(text, "/work/project")).toThrow(/no (?:report|test)|JSON/);
  });

  it("loses what has no meaning", () => {
    const [test] = parseReport(one({ line: -1, durationMs: "long", file: 7, suite: "x", message: [] }), "/p").tests;
    expect(test).toMatchObject({ line: null, durationMs: null, file: null, suite: [], message: null });
  });

  it.each([
    ["entities of its own", '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites name="&b;"/>'],
    [
      "an entity of the system",
      '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuites><testsuite name="&a;"/></testsuites>',
    ],
    ["another root", "<html/>"],
    ["no end", "<testsuites>"],
    ["suites without end", `<testsuites>${"<testsuite>".repeat(300)}${"</testsuite>".repeat(300)}</testsuites>`],
  ])("in XML with %s is refused", (_, text) => {
    expect(() => parseBunReport(text)).toThrow(/./);
  });

  it("fills an answer with so many failures of so many characters only", () => {
    const tests = Array.from({ length: 150 }, () => ({
      name: "n".repeat(10_000),
      status: "failed",
      details: "d".repeat(50_000),
    }));
    const header = {
      ...{ reports: [{ format: "glovebox" as const, sizeBytes: 0 }], folder: "/p", startMs: 0, stopMs: 0 },
      wanted: { ctrf: false, junit: false },
    };
    const { summary } = summariseReports(header, [JSON.stringify({ runner: "jest", unfinished: [], tests })]);
    expect(summary.runs[0]?.counts.failed).toBe(150);
    expect(summary.failures).toHaveLength(maxFailures);
    expect(JSON.stringify(summary).length).toBeLessThan(maxFailures * 25_000);
    expect(new Set(summary.failures.map(({ name }) => name)).size).toBe(maxFailures);
  });
});

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
