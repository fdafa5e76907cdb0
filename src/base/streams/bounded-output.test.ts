import { describe, expect, it } from "vitest";
import { BoundedOutput } from "./bounded-output.ts";

const utf8 = new TextEncoder();

describe("BoundedOutput", () => {
  it("joins a character that was split across chunks", () => {
    const output = new BoundedOutput(100);
    const bytes = utf8.encode("é漢🙂");
    for (const byte of bytes) output.append(Uint8Array.of(byte));
    expect(output.text()).toBe("é漢🙂");
    expect(output.truncated).toBe(false);
  });

  it("keeps the first bytes, counts the rest and cuts no character in half", () => {
    const output = new BoundedOutput(4);
    output.append(utf8.encode("abc"));
    output.append(utf8.encode("漢字"));
    output.append(utf8.encode("more"));
    expect(output.text()).toBe("abc");
    expect(output.bytes().length).toBe(4);
    expect(output.droppedBytes).toBe(3 + 6 + 4 - 4);
    expect(output.truncated).toBe(true);
  });

  it.each([0, 1, 2, 3])("gives up a long text as it is, cut by %i bytes", (cut) => {
    const text = "line of é, 漢 and 🙂\n".repeat(60_000) + "\ufeff🙂";
    const bytes = utf8.encode(text);
    const output = new BoundedOutput(bytes.length - cut);
    for (let from = 0; from < bytes.length; from += 65_535) output.append(bytes.subarray(from, from + 65_535));
    const before = output.text();
    expect(Buffer.from(output.bytes()).equals(bytes.subarray(0, bytes.length - cut))).toBe(true);
    expect(before === (cut === 0 ? text : text.slice(0, -2))).toBe(true);
    expect(output.takeText() === before).toBe(true);
    expect(output.text() === before).toBe(true);
    expect(output.takeText() === before).toBe(true);
  });

  it("takes as much memory as there are bytes, however small the pieces are that they come in, and gives it up", () => {
    const output = new BoundedOutput(2_000_000);
    for (let count = 0; count < 1_000_000; count += 1) output.append(Uint8Array.of(0x61));
    expect(output.memoryBytes).toBeGreaterThanOrEqual(1_000_000);
    expect(output.memoryBytes).toBeLessThan(1_300_000);
    expect(output.takeText()).toBe("a".repeat(1_000_000));
    expect(output.memoryBytes).toBe(0);
  });

  it("keeps its own copy of what it was given", () => {
    const output = new BoundedOutput(10);
    const reused = Buffer.from("one");
    output.append(reused);
    reused.fill(0x78);
    expect(output.text()).toBe("one");
  });

  it("shows invalid bytes as replacement characters and keeps a byte order mark", () => {
    const output = new BoundedOutput(10);
    output.append(Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x61));
    expect(output.text()).toBe("\ufeff\ufffda");
  });
});
