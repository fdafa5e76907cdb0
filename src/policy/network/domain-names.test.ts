import { describe, expect, it } from "vitest";
import { canonicalName, matches, parseDomainPattern, parseAuthority, isSpecialName } from "./domain-names.ts";

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

describe("parseAuthority", () => {
  it.each([
    ["example.com:443", { name: "example.com", port: 443 }],
    ["EXAMPLE.com:1", { name: "example.com", port: 1 }],
    ["example.com", { name: "example.com", port: 80 }],
    ["example.com:65535", { name: "example.com", port: 65_535 }],
  ])("reads %s", (text, expected) => {
    expect(parseAuthority(text, 80)).toEqual(expected);
  });

  it.each([
    ["127.0.0.1:80", "address"],
    ["[::1]:80", "address"],
    ["[::ffff:127.0.0.1]:80", "address"],
    ["::1", "address"],
    ["2130706433:80", "address"],
    ["017700000001:80", "address"],
    ["0x7f.1:80", "address"],
    ["127.0.0.1.:80", "address"],
    ["0X7F000001:80", "address"],
    ["example.com.:80", "name"],
    ["a\0b.example:80", "name"],
    ["user@example.com:80", "name"],
    [":80", "name"],
    ["example.com:", "port"],
    ["example.com:0", "port"],
    ["example.com:080", "port"],
    ["example.com:65536", "port"],
    ["example.com:8o", "port"],
    ["example.com:+80", "port"],
  ])("says of %j that its %s is wrong", (text, fault) => {
    expect(parseAuthority(text, 80)).toBe(fault);
  });

  it("demands a port where there is no default", () => {
    expect(parseAuthority("example.com", null)).toBe("port");
  });
});

it.each([
  ["localhost", true],
  ["a.localhost", true],
  ["metadata.google.internal", true],
  ["printer.local", true],
  ["wiki.corp", true],
  ["1.0.0.127.in-addr.arpa", true],
  ["intranet", true],
  ["example.com", false],
  ["local.example.com", false],
  ["localhost.example", false],
])("%s is special: %j", (name, expected) => {
  expect(isSpecialName(name)).toBe(expected);
});
