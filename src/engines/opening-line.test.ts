import { describe, expect, it } from "vitest";
import type { OutputChunk, OutputStream } from "./engine.ts";
import { OutputQueue } from "./output-queue.ts";
import { OpeningLine, takeOpeningLine } from "./opening-line.ts";

function chunk(text: string, stream: OutputStream = "stdout"): OutputChunk {
  return { stream, bytes: Buffer.from(text) };
}

function texts(chunks: readonly OutputChunk[]): string[] {
  return chunks.map(({ stream, bytes }) => `${stream}:${Buffer.from(bytes).toString()}`);
}

describe("OpeningLine", () => {
  it("takes a number from the first line, also in pieces, and leaves the rest", async () => {
    const opening = new OpeningLine();
    expect(texts(opening.pass([chunk("4")]))).toEqual([]);
    expect(texts(opening.pass([chunk("early", "stderr"), chunk("2\n7\nmore")]))).toEqual([
      "stdout:7\nmore",
      "stderr:early",
    ]);
    expect(await opening.number).toBe(42);
    expect(texts(opening.pass([chunk("8\n")]))).toEqual(["stdout:8\n"]);
    expect(opening.finish()).toEqual([]);
  });

  it("gives back what is no number", async () => {
    for (const text of ["OCI runtime exec failed: no", "0\n", "x\n", "\n", "4 2\n", "1234567890123"]) {
      const opening = new OpeningLine();
      expect(texts(opening.pass([chunk(text)]))).toEqual([`stdout:${text}`]);
      expect(await opening.number).toBeNull();
    }
  });

  it("gives back what it held at the end of an output without a line", async () => {
    const opening = new OpeningLine();
    expect(opening.pass([chunk("42")])).toEqual([]);
    expect(texts(opening.finish())).toEqual(["stdout:42"]);
    expect(await opening.number).toBeNull();
    expect(opening.finish()).toEqual([]);
  });
});

describe("takeOpeningLine", () => {
  async function read(output: AsyncIterable<OutputChunk>): Promise<string[]> {
    const chunks: OutputChunk[] = [];
    for await (const each of output) chunks.push(each);
    return texts(chunks);
  }

  function queueOf(...chunks: readonly OutputChunk[]): OutputQueue {
    const queue = new OutputQueue(() => undefined);
    for (const each of chunks) queue.push(each);
    return queue;
  }

  it("tells the number though nobody reads, and gives the rest", async () => {
    const queue = queueOf(chunk("early", "stderr"), chunk("42\nown"));
    const { number, output } = takeOpeningLine(queue);
    expect(await number).toBe(42);
    queue.push(chunk("more"));
    queue.end();
    expect(await read(output)).toEqual(["stderr:early", "stdout:own", "stdout:more"]);
  });

  it("tells the number to come though its reader has turned away, and then lets the program go on", async () => {
    let isFree = false;
    const queue = new OutputQueue(() => (isFree = true));
    const { number, output } = takeOpeningLine(queue);
    await output[Symbol.asyncIterator]().return?.();
    queue.push(chunk("7\nown"));
    expect(await number).toBe(7);
    expect(await read(output)).toEqual([]);
    expect(isFree).toBe(true);
  });

  it("knows of no number at the end, after too much else, and of a stream that broke", async () => {
    const ended = queueOf(chunk("12"));
    ended.end();
    const short = takeOpeningLine(ended);
    expect(await short.number).toBeNull();
    expect(await read(short.output)).toEqual(["stdout:12"]);
    const flood = takeOpeningLine(queueOf(chunk("x".repeat(70_000), "stderr")));
    expect(await flood.number).toBeNull();
    const broken = takeOpeningLine(
      (async function* () {
        yield chunk("x", "stderr");
        throw new Error("broken");
      })(),
    );
    expect(await broken.number).toBeNull();
    await expect(read(broken.output)).rejects.toThrow("broken");
  });
});
