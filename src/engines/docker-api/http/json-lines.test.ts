import { describe, expect, it } from "vitest";
import { jsonLines } from "./json-lines.ts";

async function read(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const values: unknown[] = [];
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  for await (const value of jsonLines(source())) values.push(value);
  return values;
}

describe("jsonLines", () => {
  const text = Buffer.from('{"a":"é"}\r\n\n{"b":[1]}\nno json\n{"c":3}');

  it("reads values wherever the stream is split, the last one without its line end", async () => {
    const expected = [{ a: "é" }, { b: [1] }, { c: 3 }];
    expect(await read([text])).toEqual(expected);
    expect(await read([...text].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });
});
