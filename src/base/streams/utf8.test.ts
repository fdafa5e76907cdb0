import { isUtf8 } from "node:buffer";
import { describe, expect, it } from "vitest";
import { invalidUtf8Offset, utf8Length } from "./utf8.ts";

describe("invalidUtf8Offset", () => {
  it.each([
    ["nothing", [], null],
    ["ASCII, NUL included", [0x61, 0, 0x7f], null],
    ["2, 3 and 4 bytes", [...new TextEncoder().encode("é€😀")], null],
    ["a lone continuation", [0x61, 0x80], 1],
    ["a sequence cut short at the end", [0x61, 0xe2, 0x82], 1],
    ["a sequence cut short by ASCII", [0xc3, 0x41], 0],
    ["an overlong slash", [0x61, 0x62, 0xc0, 0xaf], 2],
    ["an encoded surrogate", [0xed, 0xa0, 0x80], 0],
    ["beyond U+10FFFF", [0xf4, 0x90, 0x80, 0x80], 0],
    ["UTF-16 with a byte order mark", [0xff, 0xfe, 0x61, 0], 0],
  ])("finds it in %s", (_, bytes, offset) => {
    expect(invalidUtf8Offset(Uint8Array.from(bytes))).toBe(offset);
  });

  it("agrees with the platform on every pair of bytes and on every lead and second byte of longer ones", () => {
    let disagreements = 0;
    for (let first = 0; first < 256; first += 1) {
      for (let second = 0; second < 256; second += 1) {
        for (const tail of [[], [0x80], [0xbf, 0x80]]) {
          const bytes = Uint8Array.from([first, second, ...tail]);
          if ((invalidUtf8Offset(bytes) === null) !== isUtf8(bytes)) disagreements += 1;
        }
      }
    }
    expect(disagreements).toBe(0);
  });
});

describe("utf8Length", () => {
  it("counts bytes, not letters", () => {
    expect(utf8Length("é€😀")).toBe(9);
  });
});
