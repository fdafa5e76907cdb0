import { describe, expect, it } from "vitest";
import { looksLikeNetworkTimeout, networkTimeouts } from "./open-apple.ts";

const timeouts = [
  "Error: connect ETIMEDOUT 104.18.6.192:443",
  "connect EHOSTUNREACH 192.168.64.1:3128",
  "ConnectTimeoutError: Connect Timeout Error (code: UND_ERR_CONNECT_TIMEOUT)",
  "APIConnectionTimeoutError: Request timed out.",
  "ssh: connect to host x port 22: Connection timed out",
  "curl: (7) Failed to connect: Network is unreachable",
  "curl: (28) Operation timed out after 30001 milliseconds with 0 bytes received",
  "dial tcp 1.2.3.4:443: i/o timeout",
  "urllib3.exceptions.ConnectTimeoutError: <urllib3.connection>",
  'Error: unknown: "HTTPClientError.connectTimeout"',
  'Error Domain=NSURLErrorDomain Code=-1001 "The request timed out."',
];

describe("looksLikeNetworkTimeout", () => {
  it.each(timeouts)("%s", (text) => {
    expect(looksLikeNetworkTimeout(`first\n${text}\nlast\n`)).toBe(true);
  });

  it("has an example for each row of the table", () => {
    for (const { pattern } of networkTimeouts)
      expect([pattern, timeouts.some((text) => pattern.test(text))]).toEqual([pattern, true]);
  });

  it.each([
    "",
    "Error: connect ECONNREFUSED 127.0.0.1:80",
    "getaddrinfo ENOTFOUND nowhere.example",
    "test timed out in 5000 ms",
    "401 Unauthorized",
    "The agent did not end within 1800 s.",
    "a variable named METIMEDOUTS",
  ])("not %j", (text) => {
    expect(looksLikeNetworkTimeout(text)).toBe(false);
  });

  it("looks at the end alone", () => {
    expect(looksLikeNetworkTimeout(`ETIMEDOUT\n${"later\n".repeat(5_000)}`)).toBe(false);
  });
});
