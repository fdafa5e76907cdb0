import { describe, expect, it } from "vitest";
import { isDirect, parseNoProxy } from "./no-proxy.ts";

const direct = (noProxy: string, name: string, port = 443, address: string | null = "93.184.216.34"): boolean =>
  isDirect(parseNoProxy(noProxy), { name, port }, address);

describe("NO_PROXY", () => {
  it.each([
    ["example.com", "example.com", true],
    ["example.com", "a.b.example.com", true],
    ["EXAMPLE.com", "example.com", true],
    ["example.com", "badexample.com", false],
    ["example.com", "example.com.evil.test", false],
    [".example.com", "a.example.com", true],
    [".example.com", "example.com", false],
    ["*.example.com", "a.example.com", true],
    ["*.example.com", "example.com", false],
    ["*", "anything.test", true],
    ["a.test,b.test", "b.test", true],
    ["a.test  b.test", "b.test", true],
    [" , ,", "b.test", false],
    ["", "b.test", false],
    ["com", "example.com", true],
  ])("%j for %s: %j", (noProxy, name, expected) => {
    expect(direct(noProxy, name)).toBe(expected);
  });

  it("knows ports of names and addresses", () => {
    expect(direct("a.test:8443", "a.test", 8443)).toBe(true);
    expect(direct("a.test:8443", "a.test")).toBe(false);
    expect(direct(".a.test:8443", "b.a.test", 8443)).toBe(true);
    expect(direct("10.0.0.5:80", "a.test", 80, "10.0.0.5")).toBe(true);
    expect(direct("10.0.0.5:80", "a.test", 81, "10.0.0.5")).toBe(false);
    expect(direct("[2001:db8::1]:80", "a.test", 80, "2001:db8::1")).toBe(true);
    expect(direct("[2001:db8::1]:80", "a.test", 443, "2001:db8::1")).toBe(false);
  });

  it("matches addresses and ranges against the address that was checked, and against nothing where none was", () => {
    expect(direct("10.0.0.0/8", "a.test", 443, "10.200.3.4")).toBe(true);
    expect(direct("10.0.0.0/8", "a.test", 443, "11.0.0.1")).toBe(false);
    expect(direct("10.0.0.0/8", "a.test", 443, null)).toBe(false);
    expect(direct("10.0.0.5", "a.test", 443, "10.0.0.5")).toBe(true);
    expect(direct("fd00::/8", "a.test", 443, "fd12::1")).toBe(true);
    expect(direct("::1", "a.test", 443, "::1")).toBe(true);
  });

  it.each([
    "10.0.0.0/33",
    "10.0.0.0/8:80",
    "a.test:0",
    "a.test:99999",
    "a.test:",
    "a..test",
    "<local>",
    "http://a.test",
    "10.",
    "[::1",
    "*a.test",
  ])("lets nothing past the proxy for %s, which is no entry", (entry) => {
    expect(parseNoProxy(entry)).toEqual([]);
  });
});
