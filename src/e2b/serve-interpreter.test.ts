import { expect, it } from "vitest";
import { maxJsonValues } from "../base/json-text.ts";
import type { RunCodeResponse } from "../operations/session-contract.ts";
import { eventsOf, notesOf, parseShownJson } from "./serve-interpreter.ts";

const completed: RunCodeResponse = {
  ...{ session_id: "s", container_id: "c", sandbox_id: "c", restarted: false, packages_installed: [], stdout: "" },
  ...{ outcome: "completed", exit_code: 0, duration_ms: 1, memory_used_mb: null, timed_out: false, truncated: false },
  ...{ engine: "local", isolation: "namespaces", warnings: [], alerts: [], stderr: "", variables_lost: false },
};
const answer = (more: Partial<RunCodeResponse>): RunCodeResponse => ({ ...completed, ...more });
const shown = (value: number, type: string, content: string) =>
  ({ value, is_result: value === 1, media_type: type, encoding: "utf8", content }) as const;

it("a value is one result with all its forms, without a text's own quotes", () => {
  const displays = [
    shown(0, "text/plain", "'first'"),
    shown(1, "text/plain", "'"),
    shown(1, "text/html", "<b>"),
    shown(1, "application/json", '{"a":[null]}'),
    shown(1, "video/mp4", "x"),
    shown(2, "application/json", "{"),
  ];
  expect(eventsOf(answer({ displays }))).toEqual([
    { type: "result", is_main_result: false, text: "first", extra: {} },
    { type: "result", is_main_result: true, text: "'", html: "<b>", json: { a: [null] }, extra: {} },
    { type: "result", is_main_result: false, extra: {} },
  ]);
});

const told = (type: string, content: string): unknown =>
  eventsOf(answer({ displays: [shown(0, `application/vnd.glovebox.${type}+json`, content)] }))[0];

it("charts and tables are what SDKs expect of them, or left out", () => {
  const chart = { type: "pie", title: null, elements: [{ label: "a", angle: 90, radius: 1 }] };
  expect(told("chart", JSON.stringify(chart))).toMatchObject({ chart });
  const both = { type: "superchart", title: "t", elements: [chart, chart] };
  expect(told("chart", JSON.stringify(both))).toMatchObject({ chart: both });
  expect(told("table", '{"a":[1,null,"x"],"__proto__":[true]}')).toMatchObject({ data: { a: [1, null, "x"] } });
  const forged: readonly (readonly [string, string])[] = [
    ["chart", "NaN"],
    ["chart", '{"type":"pie","title":null,"elements":[{"label":"a","angle":NaN,"radius":1}]}'],
    ["chart", '{"type":"pie"}'],
    ["chart", '{"type":"toString","title":null,"elements":[]}'],
    ["chart", JSON.stringify({ ...chart, is_main_result: true })],
    ["chart", JSON.stringify({ ...both, elements: [both] })],
    ["chart", `${'{"type":"superchart","title":"","elements":['.repeat(5_000)}${"]}".repeat(5_000)}`],
    ["chart", JSON.stringify({ ...chart, elements: Array(40_000).fill(chart.elements[0]) })],
    ["chart", "\ufffd\0"],
    ["table", "[[1]]"],
    ["table", '{"a":1}'],
    ["table", '{"a":[[1]]}'],
    ["table", `{"a":[${"0,".repeat(maxJsonValues)}0]}`],
  ];
  for (const [type, content] of forged) {
    expect(told(type, content), content.slice(0, 90)).toEqual({ type: "result", is_main_result: false, extra: {} });
  }
});

it("an end by force, by exit or by the interpreter's end is an error with a name", () => {
  const error = { error_type: "TIMEOUT", message: "Over.", suggestion: "Less.", context: {} };
  const ends: readonly (readonly [Partial<RunCodeResponse>, string, string])[] = [
    [{ outcome: "timed_out", exit_code: 137, error, variables_lost: true }, "TIMEOUT", "Over. Less."],
    [{ outcome: "failed", exit_code: 3 }, "SystemExit", "3"],
    [{ outcome: "failed", exit_code: 9, variables_lost: true }, "UnexpectedEndOfExecution", "exit code 9"],
    [{ outcome: "sandbox_lost", exit_code: null }, "sandbox_lost", ""],
  ];
  for (const [more, name, value] of ends) {
    expect(eventsOf(answer(more))).toMatchObject([
      { type: "error", name, value: expect.stringContaining(value) as string },
    ]);
  }
  const exception = { name: "E", value: "v", traceback: "t" };
  expect(eventsOf(answer({ outcome: "failed", exit_code: 1, exception }))).toEqual([{ type: "error", ...exception }]);
});

it("warnings are told where something is gone", () => {
  const warnings = ["gone"];
  expect(notesOf(answer({ warnings }))).toEqual([]);
  expect(notesOf(answer({ warnings, variables_lost: true }))).toEqual(warnings);
  expect(notesOf(answer({ warnings, restarted: true }))).toEqual(warnings);
});

it.each([["["], ["[".repeat(100_000)], [`[${"0,".repeat(maxJsonValues)}0]`], ["\0"], [""]])(
  "no JSON, or too much: %.5s",
  (text) => {
    expect(parseShownJson(text)).toBeUndefined();
  },
);

it("numbers of points and ticks are floats on the wire", () => {
  const axis = { x_label: null, x_unit: null, y_label: null, y_unit: null, x_scale: "linear", y_scale: "linear" };
  const ticks = { x_ticks: [0, 0.5, -2], x_tick_labels: ["0"], y_ticks: [1e300, 1e20, "a", null], y_tick_labels: [] };
  const elements = [{ label: "l", points: [[1, 2.5]] }];
  const chart = { type: "line", title: null, ...axis, ...ticks, elements };
  const text = JSON.stringify(told("chart", JSON.stringify(chart)));
  expect(text).toContain('"x_ticks":[0.0,0.5,-2.0]');
  expect(text).toContain('"y_ticks":[1e+300,100000000000000000000.0,"a",null]');
  expect(text).toContain('"points":[[1.0,2.5]]');
});
