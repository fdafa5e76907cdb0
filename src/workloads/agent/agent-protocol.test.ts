import path from "node:path";
import { describe, expect, it } from "vitest";
import { encodeAgentInput, parseAgentOutput, type AgentInput } from "./agent-protocol.ts";
import { agentPaths } from "./agent-container.ts";

describe("parseAgentOutput", () => {
  it("reads an answer, and leaves keys alone that it does not know", () => {
    const given = { status: "success", result: "done", newSessionId: "s1", usage: { tokens: 3 } };
    expect(parseAgentOutput(JSON.stringify(given))).toEqual({ status: "success", result: "done", newSessionId: "s1" });
    expect(parseAgentOutput('{"status":"error","result":null,"error":"no key"}')).toEqual({
      status: "error",
      result: null,
      error: "no key",
    });
  });

  it.each([
    ["", "is not JSON"],
    ["{", "is not JSON"],
    ["null", "is not of the expected form"],
    ['"success"', "is not of the expected form"],
    ["[]", "is not of the expected form"],
    ['{"status":"done","result":""}', "at status"],
    ['{"status":"success"}', "at result"],
    ['{"status":"success","result":{"a":1}}', "at result"],
    ['{"status":"success","result":"","newSessionId":7}', "at newSessionId"],
    [`{"status":"success","result":"","newSessionId":"${"x".repeat(1_001)}"}`, "at newSessionId"],
  ])("says what is wrong with %s", (text, problem) => {
    expect(parseAgentOutput(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

it("the container finds its files where they are mounted", () => {
  expect(path.dirname(agentPaths.environmentFile)).toBe(agentPaths.environmentFolder);
  expect(path.dirname(agentPaths.state)).toBe(agentPaths.home);
});

it("the input is one JSON text, which leaves out what is not given", () => {
  const input: AgentInput = { prompt: "a\u2028b", group: "main", isMain: true };
  expect(JSON.parse(encodeAgentInput({ ...input, sessionId: undefined }))).toEqual(input);
});
