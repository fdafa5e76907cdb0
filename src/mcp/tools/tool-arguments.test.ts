import { describe, expect, it } from "vitest";
import { operationTable } from "../../operations/table.ts";
import { exampleOf, parseToolArguments } from "./call-tool.ts";
import { offeredTools } from "./tool-profiles.ts";

const offered = offeredTools(operationTable, ["all"]);
const parse = (tool: string, given: unknown) =>
  parseToolArguments(
    offered.find(({ name }) => name === tool)!,
    given,
  );

describe("the arguments of a tool", () => {
  it.each(offered.map((tool) => [tool.name, tool] as const))("have a form that fits: %s", (_, tool) => {
    expect(parseToolArguments(tool, exampleOf(tool))).toMatchObject({ type: "begin" });
  });

  it("that do not fit are told with the right form", () => {
    expect(() => parse("run_code", { cod: "1" })).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: expect.stringMatching(/code: expected a string, got nothing; cod: unknown field/),
        suggestion: expect.stringMatching(/For cod write code\. .*\{"code":"console/),
      }),
    );
  });

  it("ask again by run_id alone, and begin where it is none", () => {
    expect(parse("run_code", { run_id: "run-1", code: null, session_id: "" })).toEqual({
      ...{ type: "follow", runId: "run-1", cancel: false },
    });
    expect(parse("run_code", { run_id: "run-1", cancel: true })).toMatchObject({ cancel: true });
    expect(parse("run_code", { run_id: "", cancel: false, code: "1" })).toEqual({
      type: "begin",
      request: { code: "1" },
    });
    expect(() => parse("run_code", { run_id: "run-1", code: "1" })).toThrow(/code: unknown field/);
    expect(() => parse("run_code", { cancel: true, code: "1" })).toThrow(/cancel: unknown field/);
    expect(() => parse("end_session", { run_id: "run-1" })).toThrow(/run_id: unknown field/);
  });
});
