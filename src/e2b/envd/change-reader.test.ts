import { expect, it } from "vitest";
import { ConnectError } from "./connect-error.ts";
import { ChangeReader } from "./change-reader.ts";

it("reads changes whatever pieces they come in, and splits no name", () => {
  const text = Buffer.from("S\0Ca\nCb\0W\u{fc}/x\0D.\0Ny\0Mz\0=\0");
  const whole = new ChangeReader().take(text);
  expect(whole).toEqual([
    "started",
    { type: "EVENT_TYPE_CREATE", name: "a\nCb" },
    { type: "EVENT_TYPE_WRITE", name: "\u{fc}/x" },
    { type: "EVENT_TYPE_REMOVE", name: "." },
    { type: "EVENT_TYPE_RENAME", name: "y" },
    { type: "EVENT_TYPE_CHMOD", name: "z" },
    "all told",
  ]);
  const reader = new ChangeReader();
  expect([...text].flatMap((byte) => reader.take(Uint8Array.of(byte)))).toEqual(whole);
});

it.each(["\0", "C\0", "x\0", "Xname\0", "S1\0", "toString\0", `C${"x".repeat(5000)}\0`, "x".repeat(5000)])(
  "takes nothing that is never told: %j",
  (text) => {
    expect(() => new ChangeReader().take(Buffer.from(text))).toThrow(ConnectError);
  },
);
