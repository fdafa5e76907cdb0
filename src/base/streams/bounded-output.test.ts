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
