import { describe, expect, it } from "vitest";
import { bearerOf, judgeRequest, type GuardRules, type RequestHeaders } from "./request-head.ts";
import { secretCheck } from "./token-proof.ts";

const loopback: GuardRules = { loopbackOnly: true, allowedHosts: [], allowedOrigins: ["https://app.example"] };
const beyond: GuardRules = { ...loopback, loopbackOnly: false, allowedHosts: ["glovebox.example"] };

const isRefused = (headers: RequestHeaders, rules: GuardRules): boolean =>
  judgeRequest({ headers, rawHeaders: [] }, rules) !== null;

describe("the guard of a server", () => {
  it.each(["localhost", "127.0.0.1:8420", "[::1]:80", "LOCALHOST:1"])("takes %s for loopback", (host) => {
    expect(isRefused({ host }, loopback)).toBe(false);
  });

  it.each([
    undefined,
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "10.0.0.1",
    "a b",
    "[::1",
  ])("refuses the Host %s on loopback", (host) => expect(isRefused({ host }, loopback)).toBe(true));

  it("refuses a request with two Hosts, whichever they are", () => {
    const headers = { host: "localhost" };
    const judged = (rawHeaders: string[]) => judgeRequest({ headers, rawHeaders }, loopback)?.status ?? 200;
    expect([judged(["Host", "localhost", "X", "host"]), judged(["host", "localhost", "HOST", "localhost"])]).toEqual([
      ...[200, 400],
    ]);
  });

  it("refuses bodies in a coding, whichever it is, and says so", () => {
    const judged = (coding: string) =>
      judgeRequest({ headers: { host: "localhost", "content-encoding": coding }, rawHeaders: [] }, loopback)?.status;
    expect(["gzip", "GZIP", "br", "x-unknown", "identity, gzip", ""].map(judged)).toEqual(Array(6).fill(415));
    expect([judged("identity"), judged("Identity")]).toEqual([undefined, undefined]);
  });

  it("takes addresses and its own names beyond loopback, and no other name", () => {
    const hosts = ["10.0.0.1:8420", "[2001:db8::1]", "glovebox.example:443", "evil.example", "999.1.1.1"];
    expect(hosts.map((host) => isRefused({ host }, beyond))).toEqual([false, false, false, true, true]);
  });

  it("takes pages of its own name and port, and of no other", () => {
    const own = ["http://localhost:8420", "https://localhost:8420"];
    const foreign = ["http://localhost", "http://localhost:8421", "http://x.localhost:8420", "http://127.0.0.1:8420"];
    const odd = [
      "localhost:8420",
      "ftp://localhost:8420",
      "http://evil.example#localhost:8420",
      "http://localhost:8420/",
    ];
    const host = "LOCALHOST:8420";
    expect(own.filter((origin) => isRefused({ host, origin }, loopback))).toEqual([]);
    expect([...foreign, ...odd].filter((origin) => !isRefused({ host, origin }, loopback))).toEqual([]);
    expect(isRefused({ host: "evil.example", origin: "http://evil.example" }, loopback)).toBe(true);
    expect(isRefused({ origin: "http://" }, loopback)).toBe(true);
  });

  it("takes the allowed origins only, letter by letter", () => {
    const origins = [undefined, "https://app.example", "http://app.example", "https://app.example.evil", "null"];
    expect(origins.map((origin) => isRefused({ host: "localhost", origin }, loopback))).toEqual([
      ...[false, false],
      ...[true, true, true],
    ]);
  });

  it("reads a token of the Bearer form only, and knows its own", () => {
    const isOwn = secretCheck("abc");
    const shown = ["Bearer abc", "bearer  abc ", "Basic abc", "Bearer a bc", "abc", "Bearer abcd"];
    expect(shown.map((authorization) => isOwn(bearerOf({ authorization })))).toEqual([
      ...[true, true],
      ...[false, false, false, false],
    ]);
    expect(isOwn(bearerOf({}))).toBe(false);
  });
});
