import { describe, expect, it } from "vitest";
import { readAnswer } from "./agent-result.ts";

const log = "groups/family/logs/container-x.log";

describe("readAnswer", () => {
  it("reads what stands between the markers", () => {
    const text = '{"status":"success","result":"done"}\n';
    expect(readAnswer({ found: "pair", text }, log)).toEqual({
      output: { status: "success", result: "done" },
      error: null,
    });
  });

  it.each([
    [{ found: "none" }, "no_answer"],
    [{ found: "start" }, "no_answer"],
    [{ found: "tooLong" }, "answer_too_long"],
    [{ found: "pair", text: "{" }, "bad_answer"],
    [{ found: "pair", text: '{"status":"fine","result":""}' }, "bad_answer"],
  ] as const)("of %j names the log", (marked, reason) => {
    const { output, error } = readAnswer(marked, log);
    expect(output).toBeNull();
    expect(error).toMatchObject({ message: expect.stringContaining(log), context: { reason, log } });
  });
});
