import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AgentProgress } from "../work.ts";
import { agentNames, type AgentName } from "../../../policy/known-agents.ts";
import { agentTable } from "./agent-table.ts";
import { parseJsonObject, type JsonObject } from "./json-fields.ts";
import { readEventsOf } from "../work-in-sandbox.ts";

/** Lines that the real agents printed, in the versions of the table: a file written, a command that fails, an answer. */
function recorded(name: string): readonly JsonObject[] {
  const file = new URL(`../../../../test/fixtures/agent-lines/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => parseJsonObject(line) ?? {});
}

function progressOf(name: AgentName, lines: readonly JsonObject[]): AgentProgress {
  const progress = new AgentProgress();
  for (const line of lines) progress.add(agentTable[name].readFacts(line));
  return progress;
}

/** Its own name for the tool that writes files. */
const writes: Readonly<Record<AgentName, string>> = {
  pi: "write: note.txt",
  claude: "Write: /workspace/group/note.txt",
  codex: "command_execution: /bin/bash -lc 'echo hello > note.txt'",
  gemini: "write_file: /workspace/group/note.txt",
  opencode: "write: /workspace/group/note.txt",
};

describe.each(agentNames)("lines of %s", (name) => {
  it("tell people what it says and does, each once", () => {
    const events = recorded(name).flatMap(readEventsOf(name));
    expect(events.filter(({ kind }) => kind === "says").map(({ text }) => text)).toEqual([
      "I write the file.",
      "The note says hello.",
    ]);
    const does = events.filter(({ kind }) => kind === "does").map(({ text }) => text);
    expect(does).toEqual([writes[name], expect.stringContaining("cat note.txt; exit 3")]);
  });

  it("give its answer and the conversation's name", () => {
    const progress = progressOf(name, recorded(name));
    expect(progress.failure).toBeNull();
    expect(progress.answer).toBe("The note says hello.");
    expect(progress.sessionId).toMatch(/^[\w-]{20,}$/);
  });

  it("count the model's tokens", () => {
    const usage = recorded(name)
      .flatMap(agentTable[name].readFacts)
      .flatMap((fact) => (fact.kind === "usage" ? [fact] : []));
    expect(usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(300);
    expect(usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBe(60);
  });

  it("say why it failed, when its model refused", () => {
    expect(progressOf(name, recorded(`${name}-failed`)).failure).toContain("no such model");
  });

  it("that are not as expected are passed over", () => {
    const keys = [...new Set(recorded(name).flatMap((line) => Object.keys(line)))];
    const types = [...new Set(recorded(name).map(({ type }) => type))];
    const odd = [null, 7, "text", [], [null, 1, {}], { content: [7, { type: "text" }], usage: { input: -1 } }];
    for (const type of [...types, 5, null]) {
      for (const value of odd) {
        const line = { ...Object.fromEntries(keys.map((key) => [key, value])), type };
        expect(() => agentTable[name].readFacts(line).forEach((fact) => JSON.stringify(fact))).not.toThrow();
        for (const { text } of readEventsOf(name)(line)) expect(typeof text).toBe("string");
      }
    }
  });
});

it("a command that fails is told of, by the agents that say so", () => {
  const failed = agentNames.filter((name) =>
    recorded(name)
      .flatMap(readEventsOf(name))
      .some(({ kind, text }) => kind === "note" && text.endsWith("failed")),
  );
  expect(failed).toEqual(["pi", "claude", "codex"]);
});

it("the longest input of a tool is a line", () => {
  const event = { type: "tool_execution_start", toolName: "bash", args: { command: `a\n${"b ".repeat(100_000)}` } };
  expect(readEventsOf("pi")(event)[0]?.text).toMatch(/^bash: a b b .{190,210}…$/);
});
