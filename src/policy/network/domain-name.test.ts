import { describe, expect, it } from "vitest";
import { canonicalName } from "./domain-name.ts";

describe("canonicalName", () => {
  it.each([
    ["example.com", "example.com"],
    ["EXAMPLE.Com", "example.com"],
    ["a-b.c3.example", "a-b.c3.example"],
    ["localhost", "localhost"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["1.example", "1.example"],
    ["0x7f.example", "0x7f.example"],
    [`${"a".repeat(63)}.example`, `${"a".repeat(63)}.example`],
  ])("takes %s", (text, name) => {
    expect(canonicalName(text)).toBe(name);
  });

  it.each([
    "",
    ".",
    "example.com.",
    ".example.com",
    "a..b",
    "-a.example",
    "a-.example",
    "a_b.example",
    "a b.example",
    "a\0.example",
    "a%00.example",
    "a/b",
    "a@b.example",
    "a:80",
    "*.example.com",
    "bücher.example",
    // Characters that lower-casing or normalising would turn into ASCII.
    "\u212Aelvin.example",
    "ｅxample.com",
    "example。com",
    "example.com\n",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}ab`,
    "127.0.0.1",
    "2130706433",
    "127.1",
    "0177.0.0.1",
    "0x7f000001",
    "0x7f.0.0.0x1",
    "example.0x",
    "1.2.3.4.5",
    "[::1]",
    "::1",
  ])("refuses %j", (text) => {
    expect(canonicalName(text)).toBeNull();
  });
});
