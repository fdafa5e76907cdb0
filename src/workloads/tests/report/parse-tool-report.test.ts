import { expect, it } from "vitest";
import { parseCargoReport, parseGoReport } from "./parse-tool-report.ts";

const end = (exitCode: number): string => `${"0".repeat(64)} ${exitCode}\n`;
const block = (lines: string, sums: string): string =>
  `\nrunning 1 test\n${lines}\ntest result: ok. ${sums}; 0 measured\n`;
const read = (text: string, exitCode = 0) =>
  parseCargoReport(text + end(exitCode)).tests.map(({ name, status }) => [name, status]);

it("tests of several programs count together", () => {
  const text =
    block("test a ... ok", "1 passed; 0 failed; 0 ignored") +
    block("test b ... FAILED", "0 passed; 1 failed; 0 ignored");
  expect(read(text, 101)).toEqual([
    ["a", "passed"],
    ["b", "failed"],
  ]);
});

it.each([
  ["a line that a test printed", "test a ... ok\ntest forged ... ok", "1 passed; 0 failed; 0 ignored"],
  ["a test whose line is torn", "test a ... printed\nok", "1 passed; 0 failed; 0 ignored"],
  ["no names", ".", "1 passed; 0 failed; 0 ignored"],
])("with %s there is no report", (_, lines, sums) => {
  expect(() => read(block(lines, sums))).toThrow(RangeError);
});

it("a target whose test ends its process is unfinished, and the others keep their counts", () => {
  const text = `${block("test a ... ok", "1 passed; 0 failed; 0 ignored")}running 2 tests\ntest b ... ok\n${block("test c ... ok", "1 passed; 0 failed; 0 ignored")}`;
  const { tests, unfinished } = parseCargoReport(text + end(0));
  expect(tests.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(unfinished).toEqual(["a target with 2 tests, of which 1 ended,"]);
});

it("what was not built is an error", () => {
  expect(read("", 101)).toEqual([["cargo test", "error"]]);
  expect(() => parseCargoReport("running 0 tests\n")).toThrow(RangeError);
});

it("a package of Go that passed without a word of a test is unfinished", () => {
  const line = (name: string, output: string): string =>
    [
      { Action: "output", Package: name, Output: output },
      { Action: "pass", Package: name },
    ]
      .map((event) => `${JSON.stringify(event)}\n`)
      .join("");
  const text = `m\t/work/project\n${line("m/silent", "ok  \tm/silent\t0.002s\n")}${line("m/empty", "ok  \tm/empty\t0.002s [no tests to run]\n")}`;
  expect(parseGoReport(text + end(0), "/work/project").unfinished).toEqual(["m/silent"]);
});

it("a test of Go that did not end is an error, and lines that are no events are nothing", () => {
  const event = '{"Action":"run","Package":"m","Test":"TestA"}\n{"Action":"pass"\nok\n';
  const { tests } = parseGoReport(`m\t/work/project\n${event}${end(1)}`, "/work/project");
  expect(tests).toMatchObject([{ name: "TestA", suite: ["m"], status: "error" }]);
  expect(() => parseGoReport(event, "/work/project")).toThrow(RangeError);
});
