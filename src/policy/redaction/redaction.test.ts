import { describe, expect, it } from "vitest";
import { Redaction } from "./redaction.ts";

const value = "sk-Test/9+AbC ~'\"ß\\x!";
const bytes = Buffer.from(value);
const redaction = (): Redaction => new Redaction([{ name: "KEY", value }]);

describe("Redaction", () => {
  const base64 = (before: string, after: string): string => Buffer.from(before + value + after).toString("base64");
  it.each([
    ["itself", value],
    ["lower case", value.toLowerCase()],
    ["encodeURIComponent", encodeURIComponent(value)],
    ["URLSearchParams", new URLSearchParams({ k: value }).toString().slice(2)],
    ["Python's quote", "sk-Test/9%2BAbC%20~%27%22%C3%9F%5Cx%21"],
    ["Python's quote_plus", "sk-Test%2F9%2BAbC+~%27%22%C3%9F%5Cx%21"],
    ["JSON", JSON.stringify(value).slice(1, -1)],
    ["JSON in ASCII", "sk-Test/9+AbC ~'\\\"\\u00df\\\\x!"],
    ["hexadecimal", bytes.toString("hex")],
    ["HEXADECIMAL", bytes.toString("hex").toUpperCase()],
    ["base64", bytes.toString("base64")],
    ["base64url", bytes.toString("base64url")],
  ])("takes out %s, whole", (_, text) => {
    expect(redaction().text(`<${text}>`)).toBe("<[redacted:KEY]>");
  });

  it.each([
    ["", ""],
    ["", "y"],
    ["", "yz"],
    ["u", ""],
    ["u", "yz"],
    ["uv", ""],
    ["user:", "\n"],
    ["uv", "y"],
  ])("takes it out of base64 of %j and it and %j, save bits at the ends", (before, after) => {
    const text = redaction().text(base64(before, after));
    expect(text).toContain("[redacted:KEY]");
    const [head = "", tail = ""] = text.split("[redacted:KEY]");
    expect(head.length).toBeLessThanOrEqual(Math.ceil((before.length * 8) / 6));
    expect(tail.length).toBeLessThanOrEqual(4 + Math.ceil((after.length * 8) / 6));
  });

  it.each([76, 64])("takes out base64 that is broken after %i columns", (columns) => {
    const long = "0123456789abcdef".repeat(12);
    const text = Buffer.from(`${long}\n`)
      .toString("base64")
      .replaceAll(new RegExp(`(.{${columns}})`, "g"), "$1\n");
    const redacted = new Redaction([{ name: "LONG", value: long }]).text(text);
    expect(redacted).toMatch(/^\[redacted:LONG\]\n?.{0,4}\n?$/);
  });

  it("takes out the long lines of a value of many lines, each by itself", () => {
    const key = "-----BEGIN KEY-----\r\nMIIEvQIBADANBgkqhkiG\r\nab\r\n-----END KEY-----\r\n";
    const pem = new Redaction([{ name: "PEM", value: key }]);
    expect(pem.text("line 1: MIIEvQIBADANBgkqhkiG, line 2: ab")).toBe("line 1: [redacted:PEM], line 2: ab");
    expect(pem.text(key.trim())).toBe("[redacted:PEM]");
  });

  it("tells which values it found", () => {
    const both = new Redaction([
      { name: "B", value: "bbbbbb-secret" },
      { name: "A", value: "aaaaaa-secret" },
      { name: "C", value: "cccccc-secret" },
    ]);
    expect(both.found).toEqual([]);
    both.text("bbbbbb-secret aaaaaa-secret");
    expect(both.found).toEqual(["A", "B"]);
  });

  it("does not look for values of fewer than six bytes, and tells their names", () => {
    const short = new Redaction([
      { name: "PIN", value: "12345" },
      { name: "KEY", value: "123456" },
    ]);
    expect(short.tooShort).toEqual(["PIN"]);
    expect(short.text("12345 123456")).toBe("12345 [redacted:KEY]");
  });

  it("passes on the very same bytes and text without secrets", () => {
    const none = new Redaction([]);
    const given = Buffer.from("text");
    expect(none.bytes(given)).toBe(given);
    expect(none.stream()).toBeNull();
  });
});
