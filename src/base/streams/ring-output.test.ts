import { describe, expect, it } from "vitest";
import { RingOutput } from "./ring-output.ts";

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
