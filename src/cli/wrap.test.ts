import { PassThrough, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ClientInput, DiagnosticOutput, LineBound, requestOfWrap } from "./wrap-command.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const request = (given: object): Record<string, unknown> =>
  requestOfWrap({ mount: [], secret: [], env: [], ...given }, ["npx", "x"], { SET: "1" });

describe("the longest line", () => {
  it.each([
    [["12345\n12345\n", "12345"], true],
    [["123", "45\n123", "45\n"], true],
    [["123456"], false],
    [["123", "456\n"], false],
    [["1\n123", "456"], false],
    [["1\n", "123", "45", "6"], false],
  ])("of %j is held: %s", (chunks, isHeld) => {
    const bound = new LineBound(5);
    expect(chunks.every((chunk) => bound.holds(bytes(chunk)))).toBe(isHeld);
  });
});

describe("what a client sends", () => {
  const open = (events: string[]): { stream: PassThrough; input: ClientInput } => {
    const stream = new PassThrough();
    const tell = (what: string) => (): void => void events.push(what);
    return {
      stream,
      input: new ClientInput(stream, { maxWaitingBytes: 4, onLeft: tell("left"), onTooMuch: tell("much") }),
    };
  };

  it("comes whole, and its end is seen while nothing is taken", async () => {
    const events: string[] = [];
    const { stream, input } = open(events);
    stream.write("ab");
    stream.end("cd");
    await setTimeout();
    expect(events).toEqual(["left"]);
    const chunks: Uint8Array[] = [];
    for await (const chunk of input) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe("abcd");
  });

  it("is bounded while the server takes nothing", async () => {
    const events: string[] = [];
    const { stream } = open(events);
    stream.write("12345");
    stream.end("6");
    await setTimeout();
    expect(events).toEqual(["much"]);
  });
});

it("stderr that nobody reads is dropped and counted", () => {
  const target = new Writable({ write: () => undefined });
  const output = new DiagnosticOutput(target, 4);
  for (const text of ["12345", "67", "8"]) output.write(bytes(text));
  expect([target.writableLength, output.droppedBytes]).toEqual([5, 3]);
});

describe("options", () => {
  it.each([
    ["/a/b", { path: "/a/b", read_only: true }],
    ["/a/b:rw", { path: "/a/b", read_only: false }],
    ["/a/b:docs", { path: "/a/b", target: "docs", read_only: true }],
    ["C:\\a:docs:rw", { path: "C:\\a", target: "docs", read_only: false }],
    ["rw", { path: "rw", read_only: true }],
  ])("--mount %s", (mount, expected) => expect(request({ mount: [mount] })["mounts"]).toEqual([expected]));

  it.each([[{ mount: ["/a::rw"] }], [{ mount: ["/a:b:c"] }], [{ mount: [":x"] }], [{ env: ["UNSET"] }]])(
    "%j is refused",
    (given) => expect(() => request(given)).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" })),
  );

  it("--env takes a value by its name", () => {
    expect(request({ env: ["SET", "OWN=2", "EMPTY="] })["environment"]).toEqual({ SET: "1", OWN: "2", EMPTY: "" });
  });
});
