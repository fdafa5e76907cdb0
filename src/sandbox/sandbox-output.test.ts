import { describe, expect, it } from "vitest";
import type { OutputChunk } from "../engines/engine.ts";
import { Redaction } from "../policy/redaction.ts";
import { redactedOutput } from "./sandbox-output.ts";

const redaction = new Redaction([{ name: "KEY", value: "hunter2-hunter2" }]);

async function* chunks(...given: readonly (readonly [OutputChunk["stream"], string])[]): AsyncGenerator<OutputChunk> {
  for (const [stream, text] of given) yield { stream, bytes: Buffer.from(text) };
}

async function collect(output: AsyncIterable<OutputChunk>): Promise<readonly string[]> {
  const collected: string[] = [];
  for await (const { stream, bytes } of output) collected.push(`${stream}: ${Buffer.from(bytes).toString()}`);
  return collected;
}

describe("redactedOutput", () => {
  it("redacts each stream by itself, whatever comes between", async () => {
    const output = chunks(["stdout", "a hunter2-"], ["stderr", "hunter2"], ["stdout", "hunter2 b"], ["stderr", "!"]);
    expect(await collect(redactedOutput(output, redaction))).toEqual([
      "stdout: a ",
      "stdout: [redacted:KEY] b",
      "stderr: hunter2!",
    ]);
  });

  it("gives out at the end what was held back", async () => {
    expect(await collect(redactedOutput(chunks(["stdout", "hunter2"], ["stderr", "hun"]), redaction))).toEqual([
      "stdout: hunter2",
      "stderr: hun",
    ]);
  });

  it("ends its source when its reader turns away", async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<OutputChunk> {
      try {
        for (;;) yield { stream: "stdout", bytes: Buffer.from("x") };
      } finally {
        ended = true;
      }
    }
    for await (const _ of redactedOutput(endless(), redaction)) break;
    expect(ended).toBe(true);
  });

  it("is the very same output without secrets", () => {
    const output = chunks();
    expect(redactedOutput(output, new Redaction([]))).toBe(output);
  });
});
