import { describe, expect, it } from "vitest";
import { readInput } from "./runner-input.ts";

const read = (input: unknown) => readInput(JSON.stringify(input));

describe("readInput", () => {
  it("brings what it is given into one form", () => {
    expect(read({ prompt: "Hi", groupFolder: "family", sessionId: "", memoryContext: " ", other: 1 })).toEqual({
      prompt: "Hi",
      group: "family",
      isMain: false,
      isFolder: false,
      sessionId: null,
      memoryContext: null,
      agent: "pi",
      command: null,
    });
    const agent = { name: "codex", command: ["my-codex", "--json"] };
    expect(read({ prompt: "Hi", group: "main", isMain: true, sessionId: "a-1", agent })).toMatchObject({
      isMain: true,
      sessionId: "a-1",
      agent: "codex",
      command: ["my-codex", "--json"],
    });
  });

  it("takes a prompt of 5 MB, in any script", () => {
    const prompt = "π\u2028\r\n".repeat(1_000_000);
    expect(read({ prompt, group: "g" }).prompt).toBe(prompt);
  });

  it.each([
    ["no JSON", "hello", "not a JSON object"],
    ["a list", "[]", "not a JSON object"],
    ["nothing", "", "not a JSON object"],
    ["no prompt", "{}", '"prompt"'],
    ["an empty prompt", '{"prompt":"\\n"}', '"prompt"'],
    ["a session that is an option", '{"prompt":"x","sessionId":"--help"}', "sessionId"],
    ["a session that is a path", '{"prompt":"x","sessionId":"a/../b"}', "sessionId"],
    ["an agent that is not known", '{"prompt":"x","agent":{"name":"constructor"}}', "known are pi, claude"],
    ["an agent whose command is a text", '{"prompt":"x","agent":{"command":"rm -rf"}}', "agent.command"],
  ])("refuses %s", (_, text, words) => {
    expect(() => readInput(text)).toThrow(words);
  });
});
