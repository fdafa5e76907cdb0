import { describe, expect, it } from "vitest";
import { matches, parseDomainPattern } from "./domain-pattern.ts";

const parse = (text: string) => parseDomainPattern(text, "network[0]");

describe("parseDomainPattern", () => {
  it.each([
    ["Example.com", { name: "example.com", subdomains: false, ports: [80, 443] }],
    ["*.example.com", { name: "example.com", subdomains: true, ports: [80, 443] }],
    ["example.com:8443", { name: "example.com", subdomains: false, ports: [8443] }],
    ["*.example.com:8443", { name: "example.com", subdomains: true, ports: [8443] }],
  ])("reads %s", (text, pattern) => {
    expect(parse(text)).toEqual(pattern);
  });

  it.each([
    "",
    "*",
    "*.",
    "*.com",
    "localhost",
    "a.*.example",
    "*a.example",
    "**.example.com",
    "example.com.",
    "example.com:",
    "example.com:0",
    "example.com:80:80",
    "example.com:*",
    "https://example.com",
    "example.com/path",
    "user@example.com",
    "10.0.0.1",
    "*.0.0.1",
    "2130706433",
    "[::1]",
    "::1",
    "bücher.example",
    "a\0.example",
    " example.com",
  ])("refuses %j", (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", context: { field: "network[0]" } }),
    );
  });
});

describe("matches", () => {
  it.each([
    ["example.com", "example.com", 443, true],
    ["example.com", "example.com", 80, true],
    ["example.com", "example.com", 8080, false],
    ["example.com", "www.example.com", 443, false],
    ["example.com", "badexample.com", 443, false],
    ["example.com", "example.com.evil.example", 443, false],
    ["*.example.com", "www.example.com", 443, true],
    ["*.example.com", "a.b.example.com", 443, true],
    ["*.example.com", "example.com", 443, false],
    ["*.example.com", "badexample.com", 443, false],
    ["example.com:8443", "example.com", 8443, true],
    ["example.com:8443", "example.com", 443, false],
  ])("%s, %s:%i: %s", (pattern, name, port, expected) => {
    expect(matches(parse(pattern), { name, port })).toBe(expected);
  });

  it("without a name stands for every name but those of one label", () => {
    const every = { name: "", subdomains: true, ports: [443] };
    expect(matches(every, { name: "example.com", port: 443 })).toBe(true);
    expect(matches(every, { name: "localhost", port: 443 })).toBe(false);
  });
});
