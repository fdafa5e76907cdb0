import { expect, it } from "vitest";
import { firstLiveCredit, maxLiveBytes } from "../operations/contract/wire-messages.ts";
import { LiveInput } from "./live-connection.ts";

it("joins what comes byte by byte, and grants anew what was taken", async () => {
  let granted = 0;
  const input = new LiveInput((bytes) => (granted += bytes));
  for (let count = 0; count < firstLiveCredit; count += 1) input.receive(Buffer.of(count % 256));
  expect(() => input.receive(Buffer.of(1))).toThrow("more input was sent than was granted");
  input.end();
  const pieces: Uint8Array[] = [];
  for await (const piece of input) pieces.push(piece);
  expect(pieces.map(({ length }) => length)).toEqual(Array(firstLiveCredit / maxLiveBytes).fill(maxLiveBytes));
  expect(Buffer.concat(pieces)[257]).toBe(1);
  expect(granted).toBe(firstLiveCredit);
});

it("refuses empty messages, which would cost their sender nothing", () => {
  const input = new LiveInput(() => undefined);
  expect(() => input.receive(Buffer.alloc(0))).toThrow("at least one byte");
});
