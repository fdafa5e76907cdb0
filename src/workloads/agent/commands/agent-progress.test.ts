import { expect, it } from "vitest";
import { AgentProgress } from "./agent-progress.ts";
import type { AgentFact } from "./agent-fact.ts";

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
