import { describe, expect, it } from "vitest";
import { inOwnWords, unknownMethod, unknownTool } from "./json-rpc.ts";

const answer = (code: number, message: string, data?: unknown) =>
  inOwnWords({ jsonrpc: "2.0", id: 1, error: { code, message, data } });

describe("what is not served", () => {
  it.each(["watch-commit", "note-append", "up", "down", "logging/setLevel"])("is told of: method %s", (method) => {
    const error = unknownMethod(method);
    expect(error.code).toBe(-32_601);
    expect(error.data).toMatchObject({ code: "Unimplemented", error_type: "UNIMPLEMENTED", context: { method } });
  });

  it("is told of: a tool, with the one that may be meant", () => {
    const error = unknownTool("execute-code", ["execute_code", "run_tests"]);
    expect(error.code).toBe(-32_602);
    expect(error.message).toContain("Did you mean execute_code?");
    expect(error.data).toMatchObject({ code: "Unimplemented", error_type: "UNIMPLEMENTED" });
  });

  it("is told of where the SDK answers by itself", () => {
    expect(answer(-32_601, "Method not found")).toMatchObject({
      error: { code: -32_601, data: { code: "Unimplemented", error_type: "UNIMPLEMENTED" } },
    });
  });
});

describe("the SDK's list of schema problems", () => {
  const list = JSON.stringify(
    [{ code: "invalid_type", path: ["params", "name"], message: "expected string" }],
    null,
    2,
  );

  it.each([`Invalid tools/call request: ${list}`, list])("becomes a sentence", (text) => {
    expect(answer(-32_603, text)).toMatchObject({
      error: {
        code: -32_602,
        message: "Invalid params: params.name: expected string.",
        data: { error_type: "INVALID_REQUEST" },
      },
    });
  });

  it("is all that is changed", () => {
    for (const text of ["plain words", "a [list] of words", "see: [1, 2"]) {
      expect(answer(-32_603, text)).toMatchObject({ error: { code: -32_603, message: text } });
    }
    expect(answer(-32_602, list, { mine: true })).toMatchObject({ error: { message: list, data: { mine: true } } });
  });
});
