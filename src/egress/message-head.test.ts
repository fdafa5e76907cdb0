import { describe, expect, it } from "vitest";
import { framingFields, readHead } from "./message-head.ts";

const read = (...pairs: readonly string[]): ReturnType<typeof readHead> => readHead(pairs, "1.1");

describe("readHead", () => {
  it("keeps what concerns the two ends, in its order and spelling, and drops what the connection names", () => {
    const head = read(
      "Host",
      "x",
      "X-One",
      "1",
      "Connection",
      "close, X-Gone",
      "x-gone",
      "2",
      "Cookie",
      "a",
      "Cookie",
      "b",
    );
    expect(head).toEqual({
      fields: [
        ["Host", "x"],
        ["X-One", "1"],
        ["Cookie", "a"],
        ["Cookie", "b"],
      ],
      framing: { kind: "none" },
    });
  });

  it.each([
    [["Content-Length", "12"], [["Content-Length", "12"]]],
    [["transfer-encoding", "Chunked"], [["Transfer-Encoding", "chunked"]]],
    [[], []],
  ])("frames %j anew", (pairs, framing) => {
    const head = read(...pairs);
    expect(typeof head === "string" ? head : [head.fields, framingFields(head.framing)]).toEqual([[], framing]);
  });

  it.each([
    ["Connection", "content-length", "Content-Length", "5"],
    ["Connection", "close, Transfer-Encoding"],
    ["Connection", "close", "Connection", "x, HOST"],
    ["Connection", "trailer"],
    ["Connection", "proxy-authorization"],
    ["Connection", "Proxy-Anything"],
    ["Connection", "connection"],
    ["Connection", "expect"],
  ])("refuses a connection field that names what frames or routes: %s: %s", (...pairs) => {
    expect(read(...pairs)).toMatch(/Connection field that names/);
  });

  it("passes a connection field that names what clients must name, and sends none of it on", () => {
    const head = read(
      "Connection",
      "TE, Upgrade, HTTP2-Settings",
      "TE",
      "trailers",
      "Upgrade",
      "h2c",
      "HTTP2-Settings",
      "x",
    );
    expect(head).toEqual({ fields: [], framing: { kind: "none" } });
  });

  it.each([
    [["Content-Length", "5", "Content-Length", "5"], "several"],
    [["Content-Length", "5, 5"], "not a number"],
    [["Content-Length", "+5"], "not a number"],
    [["Content-Length", "0x5"], "not a number"],
    [["Content-Length", ""], "not a number"],
    [["Content-Length", "9999999999999999"], "not a number"],
    [["Content-Length", "5", "Transfer-Encoding", "chunked"], "both"],
    [["Transfer-Encoding", "gzip, chunked"], "another Transfer-Encoding"],
    [["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"], "another Transfer-Encoding"],
    [["Transfer-Encoding", "identity"], "another Transfer-Encoding"],
    [["Transfer-Encoding", "\vchunked"], "control character"],
    [["X\u0000", "1"], "name"],
    [["X Y", "1"], "name"],
    [["", "1"], "name"],
    [["X", "a\rb"], "control character"],
    [["X", "a\u007fb"], "control character"],
  ])("refuses %j", (pairs, words) => {
    expect(read(...pairs)).toContain(words);
  });

  it("refuses more fields than any client sends, and other versions", () => {
    expect(read(...Array.from({ length: 257 }, () => ["X", "1"]).flat())).toContain("more than 256");
    expect(readHead([], "0.9")).toContain("version");
    expect(readHead(["Transfer-Encoding", "chunked"], "1.0")).toContain("HTTP/1.0");
  });
});
