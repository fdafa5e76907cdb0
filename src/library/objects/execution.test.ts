import { describe, expect, it } from "vitest";
import { Execution, type OutputReader } from "./execution.ts";

type Take = OutputReader["take"];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const kibibyte = bytes("x".repeat(1024));

async function textOf(run: Execution<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of run) text += `${chunk.stream === "stderr" ? "!" : ""}${chunk.text}`;
  return text;
}

describe("an execution", () => {
  it("is its result, and its output in order", async () => {
    const run = new Execution(async (take: Take) => {
      await take("stdout", bytes("a"));
      await take("stderr", bytes("b"));
      await take("stdout", bytes("c"));
      return 7;
    });
    expect(await textOf(run)).toBe("a!bc");
    expect(await run).toBe(7);
    await expect(Promise.all([run, run.finally()])).resolves.toEqual([7, 7]);
  });

  it("cuts no character in two, and shows one that never ended", async () => {
    const snowman = bytes("☃");
    const run = new Execution(async (take: Take) => {
      await take("stdout", snowman.slice(0, 1));
      await take("stderr", bytes("e"));
      await take("stdout", snowman.slice(1));
      await take("stdout", snowman.slice(0, 2));
    });
    expect(await textOf(run)).toBe("!e☃\uFFFD");
  });

  it("slows its program for a slow reader, and lets it go when the reader stops", async () => {
    let taken = 0;
    const run = new Execution(async (take: Take) => {
      await Promise.resolve();
      for (; taken < 500; taken += 1) await take("stdout", kibibyte);
      return "over";
    });
    const reader = run[Symbol.asyncIterator]();
    await reader.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBeLessThan(80);
    await reader.return?.();
    expect(await run).toBe("over");
    expect(taken).toBe(500);
  });

  it("is not held up by output that nobody reads, and says so to a reader who comes too late", async () => {
    const write = (count: number): Execution<string> =>
      new Execution(async (take: Take) => {
        for (let done = 0; done < count; done += 1) await take("stdout", kibibyte);
        return "over";
      });
    const [little, much] = [write(1000), write(2000)];
    expect(await Promise.all([little, much])).toEqual(["over", "over"]);
    expect(await textOf(little)).toHaveLength(1000 * 1024);
    await expect(textOf(much)).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    await expect(textOf(little)).rejects.toThrow(/read once/);
  });

  it("gives its error to the reader, after the output, and to who awaits it", async () => {
    const failure = new Error("refused");
    const run = new Execution(async (take: Take) => {
      await take("stdout", bytes("before"));
      throw failure;
    });
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { text } of run) seen.push(text);
    };
    await expect(read()).rejects.toBe(failure);
    expect(seen).toEqual(["before"]);
    await expect(run).rejects.toBe(failure);
  });
});
