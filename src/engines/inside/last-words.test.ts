import { describe, expect, it } from "vitest";
import type { OutputChunk } from "../engine.ts";
import { withoutLastWords } from "./last-words.ts";

function kept(text: string, stream: OutputChunk["stream"] = "stderr"): string {
  const chunks = withoutLastWords([{ stream, bytes: Buffer.from(text) }], /Engine fell: \d+\n$/);
  return Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString();
}

describe("withoutLastWords", () => {
  it("drops the engine's words, alone and after the program's own", () => {
    expect(kept("Engine fell: 1\n")).toBe("");
    expect(kept(`${"é".repeat(1000)}\nEngine fell: 1\n`)).toBe(`${"é".repeat(1000)}\n`);
  });

  it("leaves everything else alone", () => {
    expect(kept("Engine fell: 1\nmore")).toBe("Engine fell: 1\nmore");
    expect(kept("Engine fell: 1\n", "stdout")).toBe("Engine fell: 1\n");
    expect(kept("")).toBe("");
  });
});
