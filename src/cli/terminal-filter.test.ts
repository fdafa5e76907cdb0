import { describe, expect, it } from "vitest";
import { TerminalFilter } from "./terminal-filter.ts";

const filtered = (text: string): string => new TerminalFilter().push(Buffer.from(text));
/** The same in pieces of one byte. */
const dripped = (text: string): string => {
  const filter = new TerminalFilter();
  return [...Buffer.from(text)].map((byte) => filter.push(Buffer.of(byte))).join("");
};

describe("what a program may do to the user's terminal", () => {
  it.each([
    ["text in any language", "naïve 日本 🙂\r\n\tx\b\u0007"],
    ["colours", "\u001b[1;31mred\u001b[0m\u001b[38;5;196mx\u001b[38:2::1:2:3m"],
    ["moves and erasures", "\u001b[2J\u001b[H\u001b[10;20H\u001b[K\u001b[3A\u001b7\u001b8\u001bM"],
    ["modes", "\u001b[?1049h\u001b[?25l\u001b[?1h\u001b=\u001b(B\u001b[4h\u001b[2 q\u001b[1;20r"],
  ])("%s", (_, text) => {
    expect(filtered(text)).toBe(text);
    expect(dripped(text)).toBe(text);
  });
});

describe("what it may not", () => {
  it.each([
    ["the clipboard", "\u001b]52;c;ZXZpbA==\u0007"],
    ["the clipboard, ended by ST", "\u001b]52;c;ZXZpbA==\u001b\\"],
    ["the title", "\u001b]0;title\u0007\u001b]2;t\u001b\\\u001bktitle\u001b\\"],
    ["a colour's answer", "\u001b]10;?\u0007\u001b]4;1;?\u001b\\"],
    ["a link of other words", "\u001b]8;;https://evil.example\u001b\\"],
    ["a setting's answer (DECRQSS)", '\u001bP$q"p\u001b\\'],
    ["capabilities (XTGETTCAP)", "\u001bP+q544e\u001b\\"],
    ["other strings", "\u001b_Gi=1;x\u001b\\\u001b^pm\u001b\\\u001bXsos\u001b\\"],
    ["who is there", "\u001b[c\u001b[0c\u001b[>c\u001b[=c\u001bZ\u0005"],
    ["status and cursor", "\u001b[5n\u001b[6n\u001b[?6n"],
    ["the window", "\u001b[21t\u001b[18t\u001b[8;50;100t"],
    [
      "parameters, version, modes, checksum, keyboard",
      "\u001b[x\u001b[>q\u001b[>0q\u001b[?25$p\u001b[1;1;1;1;1;1*y\u001b[?u",
    ],
    ["printing", "\u001b[i\u001b[5i\u001b[?5i"],
    [
      "keys, graphics, colours, locator, character set",
      "\u001b[?4m\u001b[>4;2m\u001b[?1;1;0S\u001b[#R\u001b[1'|\u001b[&u",
    ],
    ["modes saved and restored behind the filter's back", "\u001b[?1049s\u001b[?1049r"],
    ["a sequence without an end", `\u001b[${"1;".repeat(200)}`.slice(0, 200)],
  ])("%s", (_, text) => {
    expect(filtered(`<${text}>`).replaceAll(/[<>]/g, "")).toBe("");
    expect(dripped(text)).toBe("");
  });

  it("lets nothing through by a byte that is a control character by itself", () => {
    expect(new TerminalFilter().push(Buffer.from([0x9b, 0x36, 0x6e]))).toBe("\ufffd6n");
    expect(filtered("\u009b6n")).toBe("6n");
  });

  it("goes on with the text behind what was taken out", () => {
    expect(filtered("a\u001b]0;t\u0007b\u001b[6nc\u001bP$qm\u001b\\d")).toBe("abcd");
    expect(filtered("\u001b[6\u001b[31mx")).toBe("\u001b[31mx");
  });
});

it("takes back at the end what would outlast the program", () => {
  const filter = new TerminalFilter();
  filter.push(Buffer.from("\u001b[?1049h\u001b[?1000;1006h\u001b[?2004h\u001b[?25l\u001b[?2004l\u001b[?7l\u001b[?7h"));
  expect(filter.end()).toBe("\u001b[?1049l\u001b[?1000l\u001b[?1006l\u001b[?25h\u001b[0m");
  expect(new TerminalFilter().end()).toBe("\u001b[0m");
});

it("shows text again when a string does not end", () => {
  expect(filtered(`\u001b]0;${"x".repeat(65_536)}yes`).endsWith("yes")).toBe(true);
});
