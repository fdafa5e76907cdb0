import { describe, expect, it } from "vitest";
import { withPlainSpecifiers } from "./compile-files.ts";

const plain = (code: string, path = "main.ts"): string =>
  Buffer.from(withPlainSpecifiers(path, Buffer.from(code))).toString();

describe("withPlainSpecifiers", () => {
  it.each([
    ['import ms from "npm:ms@2.1.2";', 'import ms from "ms"          ;'],
    ["import 'npm:@a/b@^1/sub.js'", "import '@a/b/sub.js'       "],
    ['export * from "npm:chalk"', 'export * from "chalk"    '],
    ["await import(`npm:/chalk@latest`)", "await import(`chalk`            )"],
    ['require( "npm:ms@1" )', 'require( "ms"       )'],
    ['/* ü€ */ import a from "npm:a@1"', '/* ü€ */ import a from "a"      '],
  ])("%s", (code, expected) => {
    expect(plain(code)).toBe(expected);
    expect(Buffer.byteLength(plain(code))).toBe(Buffer.byteLength(code));
  });

  it.each(['console.log("npm:ms@2.1.2")', 'import a from "npm:a@file:b"', 'import a from "ms"', "from 'npm:a b'"])(
    "leaves %s",
    (code) => {
      expect(plain(code)).toBe(code);
    },
  );

  it("leaves other languages, and bytes that are no text, and is quick with long blanks", () => {
    expect(plain('from "npm:a@1"', "main.py")).toBe('from "npm:a@1"');
    const bytes = Buffer.from([0xff, 0, 0x80, ...Buffer.from('import a from "npm:a@1"')]);
    expect([...withPlainSpecifiers("a.js", bytes)].slice(0, 3)).toEqual([0xff, 0, 0x80]);
    const blank = `npm:${"import(".repeat(10_000)}${" ".repeat(1_000_000)}`;
    expect(plain(blank)).toBe(blank);
  });
});
