import { describe, expect, it } from "vitest";
import { BoundedOutput, RingOutput, GrowingBuffer } from "./collected-bytes.ts";

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

function filled(capBytes: number, ...chunks: readonly (string | Uint8Array)[]): RingOutput {
  const ring = new RingOutput(capBytes);
  for (const chunk of chunks) ring.append(Buffer.from(chunk));
  return ring;
}

describe("RingOutput", () => {
  it("keeps everything up to its cap", () => {
    const ring = filled(10, "12345", "67890");
    expect(ring.text()).toBe("1234567890");
    expect(ring.droppedBytes).toBe(0);
  });

  it("keeps the newest bytes and counts the rest, however they came", () => {
    expect(filled(10, "abcdefghij", "klm").text()).toBe("defghijklm");
    expect(filled(10, "abc", "d".repeat(95), "xy").text()).toBe(`${"d".repeat(8)}xy`);
    expect(filled(10, "abc", "d".repeat(95), "xy").droppedBytes).toBe(90);
    const ring = new RingOutput(65_536);
    let whole = "";
    for (let line = 0; line < 9000; line += 1) {
      ring.append(Buffer.from(`line ${line}\n`));
      whole += `line ${line}\n`;
    }
    expect(ring.text()).toBe(whole.slice(-65_536));
    expect(ring.droppedBytes).toBe(whole.length - 65_536);
  });

  it("does not hold on to what it was given", () => {
    const bytes = Buffer.from("abc");
    const ring = new RingOutput(10);
    ring.append(bytes);
    bytes.fill(0);
    expect(ring.text()).toBe("abc");
  });

  it("leaves out a character that lost its beginning", () => {
    expect(filled(5, "€€").text()).toBe("€");
    expect(filled(4, "aé€").text()).toBe("€");
    expect(filled(3, "😀x").text()).toBe("x");
  });

  it("shows what was never a character, and one that has no end when the stream is over", () => {
    expect(filled(10, Uint8Array.of(0xff, 0x61)).text()).toBe("\uFFFDa");
    expect(filled(10, Buffer.from("a€").subarray(0, 3)).text()).toBe("a\uFFFD");
  });

  it("gives parts by their offset, none of which cuts a character", () => {
    const ring = filled(100, "ab€cd");
    expect(ring.part({ offset: 0, maxBytes: 4, isOver: false })).toEqual({ offset: 0, text: "ab", nextOffset: 2 });
    expect(ring.part({ offset: 2, maxBytes: 4, isOver: false })).toEqual({ offset: 2, text: "€c", nextOffset: 6 });
    expect(ring.part({ offset: 3, isOver: false })).toEqual({ offset: 5, text: "cd", nextOffset: 7 });
    expect(ring.part({ offset: 7, isOver: false })).toEqual({ offset: 7, text: "", nextOffset: 7 });
    expect(ring.part({ offset: 99, isOver: true })).toEqual({ offset: 7, text: "", nextOffset: 7 });
  });

  it("holds back the beginning of a character until its rest comes", () => {
    const ring = filled(100, "a", Buffer.from("€").subarray(0, 2));
    expect(ring.part({ offset: 0, isOver: false })).toEqual({ offset: 0, text: "a", nextOffset: 1 });
    ring.append(Buffer.from("€").subarray(2));
    expect(ring.part({ offset: 1, isOver: false })).toEqual({ offset: 1, text: "€", nextOffset: 4 });
  });

  it("says where what is still there begins", () => {
    expect(filled(4, "abcdefgh").part({ offset: 1, isOver: true })).toEqual({ offset: 4, text: "efgh", nextOffset: 8 });
  });

  it("counts everything, and what is kept of it", () => {
    const ring = filled(5, "abc", "def", "", "g");
    expect([ring.text(), ring.totalBytes, ring.keptBytes]).toEqual(["cdefg", 7, 5]);
    ring.append(Buffer.from("0123456789"));
    expect([ring.text(), ring.totalBytes, ring.keptBytes]).toEqual(["56789", 17, 5]);
    const empty = filled(5, "");
    expect([empty.text(), empty.totalBytes, empty.keptBytes, empty.droppedBytes]).toEqual(["", 0, 0, 0]);
  });

  it("begins with a whole character after each byte more", () => {
    const ring = filled(4, "aéßü");
    expect(ring.text()).toBe("ßü");
    ring.append(Buffer.from("x"));
    expect(ring.text()).toBe("üx");
  });
});

it("collects bytes in order, whatever chunks they come in, and begins anew once they are taken", () => {
  const buffer = new GrowingBuffer();
  for (const size of [0, 1, 5000, 3, 100_000]) buffer.append(Buffer.alloc(size, size));
  expect(buffer.length).toBe(105_004);
  const taken = buffer.take();
  expect([taken.length, taken[0], taken[1], taken[5001], taken.at(-1)]).toEqual([105_004, 1, 5000 % 256, 3, 160]);
  expect([buffer.length, buffer.heldBytes, buffer.take().length]).toEqual([0, 0, 0]);
});

it("holds at most twice what it was given", () => {
  const buffer = new GrowingBuffer();
  for (let count = 0; count < 100_000; count += 1) buffer.append(Buffer.of(1));
  expect(buffer.heldBytes).toBeLessThanOrEqual(200_000);
});
