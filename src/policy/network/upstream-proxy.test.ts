import { describe, expect, it } from "vitest";
import { readUpstreamProxy, variablesWithPasswords } from "./upstream-proxy.ts";

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
