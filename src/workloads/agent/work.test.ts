import { expect, it } from "vitest";
import { AgentProgress, JsonLines } from "./work.ts";
import type { AgentFact } from "./commands/agent-fact.ts";

function linesOf(...chunks: readonly (string | Buffer)[]): { objects: unknown[]; others: string[] } {
  const told = { objects: [] as unknown[], others: [] as string[] };
  const lines = new JsonLines({
    onObject: (object) => told.objects.push(object),
    onOther: (text) => told.others.push(text),
  });
  for (const chunk of chunks) lines.append(Buffer.from(chunk));
  lines.end();
  return told;
}

it("puts lines together from pieces, characters cut in two as well", () => {
  const line = Buffer.from('{"text":"π\u2028π"}\n{"a":1}');
  for (let cut = 0; cut <= line.length; cut += 1) {
    expect(linesOf(line.subarray(0, cut), line.subarray(cut))).toEqual({
      objects: [{ text: "π\u2028π" }, { a: 1 }],
      others: [],
    });
  }
});

it("hands on what is no object as text, and knows lines that end in CRLF", () => {
  expect(linesOf('{"a":1}\r\n[1]\n{"half":\n\nnull\nhello\n')).toEqual({
    objects: [{ a: 1 }],
    others: ["[1]", '{"half":', "null", "hello"],
  });
});

it("holds a line without an end in bounds", () => {
  const megabyte = Buffer.alloc(1_048_576, "x");
  const { others } = linesOf(...Array.from({ length: 40 }, () => megabyte), "\nshort\n");
  expect(others).toEqual([`[a line of ${40 * 1_048_576} bytes]`, "short"]);
});

function after(...facts: readonly AgentFact[]): AgentProgress {
  const progress = new AgentProgress();
  progress.add(facts);
  return progress;
}

it("the last thing said is the answer, unless the agent names another", () => {
  expect(after().answer).toBeNull();
  expect(after({ kind: "says", text: "one" }, { kind: "says", text: "two" }).answer).toBe("two");
  expect(after({ kind: "answers", text: "whole" }, { kind: "says", text: "more" }).answer).toBe("whole");
});

it("pieces are put together, up to the next use of a tool", () => {
  const piece = (text: string): AgentFact => ({ kind: "says", text, continues: true });
  expect(after(piece("Hel"), piece("lo")).answer).toBe("Hello");
  expect(after(piece("I look."), { kind: "calls", tool: "ls", input: "" }, piece("Do"), piece("ne")).answer).toBe(
    "Done",
  );
});

it("a failure counts until the agent goes on", () => {
  const fails: AgentFact = { kind: "fails", message: "busy" };
  expect(after(fails).failure).toBe("busy");
  expect(after(fails, { kind: "says", text: "done" }).failure).toBeNull();
  expect(after({ kind: "says", text: "well" }, fails).failure).toBe("busy");
});

it("holds a flood of text in bounds", () => {
  const progress = new AgentProgress();
  const piece = { kind: "says", text: "x".repeat(1_000_000), continues: true } as const;
  for (let count = 0; count < 10; count += 1) progress.add([piece]);
  expect(progress.answer).toHaveLength(4_000_000);
});
