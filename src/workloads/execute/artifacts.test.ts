import { describe, expect, it } from "vitest";
import { describeContent, describeUnread, leftOutWarnings } from "./artifacts.ts";

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const utf8 = (text: string): Uint8Array => Buffer.from(text);

describe("describeContent", () => {
  it.each([
    ["plot.png", latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "image/png", "image", "base64"],
    ["without-ending", latin1("\x89PNG\r\n\x1a\n"), "image/png", "image", "base64"],
    ["a.jpg", latin1("\xff\xd8\xff\xe0"), "image/jpeg", "image", "base64"],
    ["a.gif", latin1("GIF89a\x01"), "image/gif", "image", "base64"],
    ["a.webp", latin1("RIFF\x01\0\0\0WEBPVP8 "), "image/webp", "image", "base64"],
    ["a.svg", utf8('<svg xmlns="x"/>'), "image/svg+xml", "image", "utf8"],
    ["a", utf8('\ufeff<?xml version="1.0"?>\n<!-- c -->\n<svg>'), "image/svg+xml", "image", "utf8"],
    ["a.csv", utf8("a,b\n1,2\n"), "text/csv", "table", "utf8"],
    ["b/A.TSV", utf8("a\tb\n"), "text/tab-separated-values", "table", "utf8"],
    ["a.json", utf8("{}"), "application/json", "text", "utf8"],
    ["a.txt", utf8("ünïcode €"), "text/plain", "text", "utf8"],
    ["a.py", utf8(""), "text/plain", "text", "utf8"],
    ["folder.csv/readme", utf8("x"), "text/plain", "text", "utf8"],
    ["a.pdf", latin1("%PDF-1.7"), "application/pdf", "binary", "base64"],
    ["a.xlsx", latin1("PK\x03\x04"), "application/zip", "binary", "base64"],
    ["a.bin", latin1("\x80\x81"), "application/octet-stream", "binary", "base64"],
    ["nul.txt", utf8("a\0b"), "application/octet-stream", "binary", "base64"],
    ["lies.png", utf8("no image"), "text/plain", "text", "utf8"],
    ["lies.csv", latin1("\xff\xfe\0"), "application/octet-stream", "binary", "base64"],
    ["page.html", utf8("<html><svg></svg>"), "text/html", "text", "utf8"],
  ])("%s", (path, bytes, mediaType, type, encoding) => {
    const described = describeContent(path, bytes);
    expect(described).toMatchObject({ mediaType, type, encoding });
    expect(Buffer.from(described.content, described.encoding)).toEqual(Buffer.from(bytes));
  });
});

describe("describeUnread", () => {
  it.each([
    ["big.PNG", "image/png", "image"],
    ["big.csv", "text/csv", "table"],
    ["big.json", "application/json", "text"],
    ["big", "application/octet-stream", "binary"],
  ])("goes by the name: %s", (path, mediaType, type) => {
    expect(describeUnread(path)).toEqual({ mediaType, type, encoding: "utf8", content: "" });
  });
});

it("one warning for each reason names the first ten, on one line, and counts the rest", () => {
  const links = Array.from({ length: 12 }, (_, index) => ({ path: `l${index}`, reason: "A link." }));
  const odd = { path: `a\nb${"x".repeat(300)}`, reason: "Odd." };
  const [first = "", second = "", ...rest] = leftOutWarnings([...links, odd]);
  expect(first).toBe(
    'artifacts: "l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9" and 2 more left out. A link.',
  );
  expect(second).toMatch(/^artifacts: "a\\nbx{197}" left out\. Odd\.$/);
  expect(rest).toEqual([]);
  expect(leftOutWarnings([])).toEqual([]);
});
