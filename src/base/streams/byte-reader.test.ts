import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { ByteReader } from "./byte-reader.ts";

/** A stream in pieces of a size. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("ByteReader", () => {
  it.each([1, 2, 3, 100])("reads lines and counts out of pieces of %i bytes", async (size) => {
    const reader = new ByteReader(pieces("ab\n\ncdefg\nhij", size));
    expect(await reader.line(2)).toBe("ab");
    expect(await reader.line(2)).toBe("");
    expect((await reader.exactly(3)).toString()).toBe("cde");
    expect((await buffer(reader.take(3).chunks)).toString()).toBe("fg\n");
    await reader.take(1).skip();
    expect(await reader.isAtEnd()).toBe(false);
    expect((await reader.exactly(2)).toString()).toBe("ij");
    expect(await reader.isAtEnd()).toBe(true);
  });

  it.each([1, 4])("refuses a line that is too long, and one without an end, in pieces of %i", async (size) => {
    await expect(new ByteReader(pieces("abc\n", size)).line(2)).rejects.toThrow("a line is too long");
    await expect(new ByteReader(pieces("ab", size)).line(2)).rejects.toThrow("ended too early");
    await expect(new ByteReader(pieces("a\nb\n", size)).line(1)).resolves.toBe("a");
  });

  it("refuses what ends too early, and what goes on too long", async () => {
    await expect(new ByteReader(pieces("ab", 1)).exactly(3)).rejects.toThrow("ended too early");
    await expect(buffer(new ByteReader(pieces("ab", 1)).take(3).chunks)).rejects.toThrow("ended too early");
    await expect(new ByteReader(pieces("ab", 1)).rest(1)).rejects.toThrow("it does not end");
    await expect(new ByteReader(pieces("ab", 1)).rest(2)).resolves.toBeUndefined();
  });

  it("closes the stream that it reads", async () => {
    const source = pieces("ab", 1);
    const reader = new ByteReader(source);
    await reader.exactly(1);
    await reader.close();
    expect(await source.next()).toEqual({ done: true, value: undefined });
  });
});
