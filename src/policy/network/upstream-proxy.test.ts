import { describe, expect, it } from "vitest";
import { readUpstreamProxy, variablesWithPasswords, isDirect, parseNoProxy } from "./upstream-proxy.ts";

const read = (environment: Record<string, string>): ReturnType<typeof readUpstreamProxy> =>
  readUpstreamProxy(environment, false);

describe("the upstream proxy of an environment", () => {
  it("is the first variable's that is not empty", () => {
    expect(read({})).toBeNull();
    expect(read({ HTTPS_PROXY: "", HTTP_PROXY: " " })).toBeNull();
    expect(read({ HTTP_PROXY: "http://b.test:1", HTTPS_PROXY: "http://a.test:1" })).toMatchObject({ host: "a.test" });
    expect(read({ HTTPS_PROXY: "http://b.test:1", https_proxy: "http://a.test:1" })).toMatchObject({ host: "a.test" });
    expect(read({ HTTPS_PROXY: "", HTTP_PROXY: "http://b.test:1" })).toMatchObject({
      host: "b.test",
      variable: "HTTP_PROXY",
    });
  });

  it.each([
    ["http://proxy.test:3128", { isSecure: false, host: "proxy.test", port: 3128, authorization: null }],
    ["proxy.test:3128", { isSecure: false, host: "proxy.test", port: 3128 }],
    ["http://proxy.test/", { port: 80 }],
    ["https://proxy.test", { isSecure: true, port: 443 }],
    ["http://[::1]:3128", { host: "::1", port: 3128 }],
    ["http://u:p%40ss@10.0.0.1:8080", { host: "10.0.0.1", authorization: `Basic ${btoa("u:p@ss")}` }],
    ["http://u@proxy.test:1", { authorization: `Basic ${btoa("u:")}` }],
  ])("reads %s", (text, expected) => {
    expect(read({ HTTPS_PROXY: text })).toMatchObject(expected);
  });

  it.each([
    "socks5://secret@proxy.test:1080",
    "http://",
    "http://a:secret@proxy.test:0",
    "http://a:secret@proxy.test/path",
    "::secret::",
    "http://u:%zzsecret@proxy.test:1",
  ])("refuses %s without showing it", (text) => {
    const found = read({ HTTPS_PROXY: text });
    expect(found).toMatchObject({ variable: "HTTPS_PROXY", fault: expect.any(String) });
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  it("keeps no line break of a password that could end a field", () => {
    const found = read({ HTTPS_PROXY: "http://u:a%0d%0aX-Evil:%201@proxy.test:1" });
    expect(found).toMatchObject({ authorization: expect.stringMatching(/^Basic [A-Za-z0-9+/=]+$/) });
  });
});

it("variables of proxies that hold a password are named", () => {
  const environment = {
    HTTPS_PROXY: "http://u:p@a.test",
    http_proxy: "http://a.test",
    all_proxy: "socks://u@a.test",
    TOKEN: "a@b",
  };
  expect(variablesWithPasswords(environment)).toEqual(["HTTPS_PROXY", "all_proxy"]);
});

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
