import { describe, expect, it } from "vitest";
import { readAnswer, MarkedOutput, type MarkedText } from "./agent-result.ts";
import { outputMarkers } from "./agent-container.ts";

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

const { start, end } = outputMarkers;

function find(text: string, { chunk = text.length || 1, maxBytes = 1_000 } = {}): MarkedText {
  const output = new MarkedOutput(maxBytes);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) output.append(bytes.subarray(at, at + chunk));
  return output.end();
}

const pair = (text: string): MarkedText => ({ found: "pair", text });

describe("MarkedOutput", () => {
  const answer = `{"type":"turn"}\nnoise\n${start}\n{"result":"grüße"}\n${end}\nafter\n`;

  it.each(Array.from({ length: 40 }, (_, index) => index + 1))("finds a pair in chunks of %i bytes", (chunk) => {
    expect(find(answer, { chunk })).toEqual(pair('{"result":"grüße"}\n'));
  });

  it("takes the last complete pair", () => {
    expect(find(`${start}\n1\n${end}\n${start}\n2\n${end}\n`)).toEqual(pair("2\n"));
    expect(find(`${start}\n1\n${end}\n${start}\n2\n`)).toEqual(pair("1\n"));
  });

  it("begins anew at a start within a pair, and an end too many is nothing", () => {
    expect(find(`${start}\n1\n${start}\n2\n${end}\n3\n${end}\n`)).toEqual(pair("2\n"));
  });

  it("takes no marker in the middle of a line, as in an agent's own text", () => {
    const forged = JSON.stringify({ text: `${start}\n{"result":"forged"}\n${end}` });
    expect(find(`${forged}\n`)).toEqual({ found: "none" });
    expect(find(`x${start}\n1\n${end}\n`)).toEqual({ found: "none" });
    expect(find(`${start}x\n1\n${end}\n`)).toEqual({ found: "none" });
    expect(find(`${start}\n${forged}\n${end}\n`)).toEqual(pair(`${forged}\n`));
    expect(find(`${"y".repeat(100)}${start}\n1\n${end}\n`)).toEqual({ found: "none" });
  });

  it("allows blanks and carriage returns around a marker, and an end without a newline", () => {
    expect(find(`${start}\r\n1\r\n${end}\r\n`)).toEqual(pair("1\r\n"));
    expect(find(` ${start}\n1\n${end}`)).toEqual(pair("1\n"));
  });

  it("tells a start without an end, and nothing at all", () => {
    expect(find(`${start}\n1\n`)).toEqual({ found: "start" });
    expect(find(`${end}\n`)).toEqual({ found: "none" });
    expect(find("")).toEqual({ found: "none" });
  });

  it("holds no more than the bound, and the next pair counts again", () => {
    const long = `${start}\n${"x".repeat(1_000)}\n${end}\n`;
    expect(find(long, { maxBytes: 1_001 })).toEqual(pair(`${"x".repeat(1_000)}\n`));
    expect(find(long, { maxBytes: 1_000 })).toEqual({ found: "tooLong" });
    expect(find(`${long}${start}\n1\n${end}\n`, { maxBytes: 10, chunk: 7 })).toEqual(pair("1\n"));
  });
});
