import { describe, expect, it } from "vitest";
import { ConnectError } from "../refusal.ts";
import { envelope, lastEnvelope, parseEnvelope } from "./rpc-stream.ts";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("envelopes of the Connect protocol", () => {
  it("carry one message and end a stream with its error", () => {
    expect(text(parseEnvelope(envelope({ a: "ü" })))).toBe('{"a":"ü"}');
    expect([...lastEnvelope(null).subarray(0, 5)]).toEqual([2, 0, 0, 0, 2]);
    const failed = lastEnvelope(new ConnectError("not_found", "no"));
    expect(text(failed.subarray(5))).toBe('{"error":{"code":"not_found","message":"no"}}');
  });

  it.each([
    ["nothing", []],
    ["half a head", [0, 0, 0]],
    ["less than it says", [0, 0, 0, 0, 2, 123]],
    ["more than it says", [0, 0, 0, 0, 0, 123]],
    ["the largest length", [0, 255, 255, 255, 255, 123, 125]],
    ["two of them", [...envelope({}), ...envelope({})]],
    ["the end of a stream", [...lastEnvelope(null)]],
    ["unknown flags", [128, 0, 0, 0, 0]],
    ["compression", [1, 0, 0, 0, 0]],
  ])("are refused with %s", (_, body) => {
    expect(() => parseEnvelope(Uint8Array.from(body))).toThrow(ConnectError);
  });
});
