import { describe, expect, it } from "vitest";
import { TerminalFilter } from "./own-terminal.ts";

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
    [
      "other character sets than UTF-8",
      "\u001b%@\u001b%G\u001b%/I\u001b-A\u001b.A\u001b/A\u001b*0\u001b+0\u001b(K\u001b$B\u001b$(C",
    ],
    ["answers with control characters of one byte", "\u001b G\u001b F"],
    ["other shifts", "\u001bN\u001bO\u001bn\u001bo\u001b|\u001b}\u001b~"],
    [
      "VT52, 132 columns, keyboard lock, echo, line ends, margins",
      "\u001b[?2l\u001b[?3h\u001b[2h\u001b[12l\u001b[20h\u001b[?69h\u001b[1;5s",
    ],
    ["modes in another form", "\u001b[?02l\u001b[?1:2h\u001b[?2$l\u001b[002h\u001b[?1001h\u001b[?;h"],
    ["waiting for the mouse", "\u001b[1;1;1;1;1T"],
    [
      "tabulators, lines of double width, guarded areas, memory",
      "\u001bH\u001b[3g\u001b#3\u001b#6\u001bV\u001bW\u001bl\u001bm\u001b6\u001b9",
    ],
    ["control characters", "\u0000\u0001\u0010\u0011\u0013\u0018\u001a\u001c\u007f\u0085\u009b\u009d"],
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

it("passes the modes of a list that may be set, and plain numbers only", () => {
  expect(filtered("\u001b[?2;25;3l\u001b[2;4h")).toBe("\u001b[?25l\u001b[4h");
  expect(filtered("\u001b[0005;00H\u001b[99999999999999999999b\u001b[;5H")).toBe("\u001b[5;0H\u001b[9999b\u001b[;5H");
});

describe("what takes back all that a program may have left", () => {
  const always =
    "\u000f\u001b(B\u001b)B\u001b>\u001b[4l" +
    "\u001b[?1;5;9;12;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026l\u001b[?7;25h\u001b7\u001b[r\u001b8\u001b[0 q\u001b[0m";

  it("is the same whatever it has done", () => {
    expect(new TerminalFilter().end()).toBe(always);
    const filter = new TerminalFilter();
    filter.push(
      Buffer.from("\u001b[?25l\u001b=\u001b[4h\u001b(0\u000e\u001b[5;10r\u001b[?1049h\u001b[?1049l\u001b[?6h\u001bc"),
    );
    expect(filter.end()).toBe(always);
  });

  it("leaves the other screen, and modes whose end moves the cursor, only if the program is there", () => {
    const filter = new TerminalFilter();
    filter.push(Buffer.from("\u001b[?1049h\u001b[?1000;6h"));
    expect(filter.end()).toBe(always.replace("\u001b[4l", "\u001b[4l\u001b[?1049l\u001b[?6l"));
  });
});

it("lets nothing through that it would not let through whole, wherever it is split", () => {
  const texts = [
    "a\u001b%@\u009d52;c;ZXZpbA==\u0007b",
    "\u001b]52;c;ZXZpbA==\u001b\\c\u001b[31md\u001b(0\u001b[?2;25l日本\u001b[6n",
    "\u001bP+q544e\u001b\u001b[6n\u001b\\e\u001b[1\u001b]0;t\u0007f",
  ];
  for (const text of texts) {
    const bytes = Buffer.from(text);
    const whole = filtered(text);
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const filter = new TerminalFilter();
        const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(parts.map((part) => filter.push(part)).join(""), `${first} ${second}`).toBe(whole);
      }
    }
  }
});

it("shows text again when a string does not end", () => {
  expect(filtered(`\u001b]0;${"x".repeat(65_536)}yes`).endsWith("yes")).toBe(true);
});
