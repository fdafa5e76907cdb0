import { describe, expect, it } from "vitest";
import type { OutputChunk, OutputStream } from "../engine.ts";
import { OpeningLine } from "./opening-line.ts";

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
