import { expect, it } from "vitest";
import { GrowingBuffer } from "./growing-buffer.ts";

it("collects bytes in order, whatever chunks they come in, and begins anew once they are taken", () => {
  const buffer = new GrowingBuffer();
  for (const size of [0, 1, 5000, 3, 100_000]) buffer.append(Buffer.alloc(size, size));
  expect(buffer.length).toBe(105_004);
  const taken = buffer.take();
  expect([taken.length, taken[0], taken[1], taken[5001], taken.at(-1)]).toEqual([105_004, 1, 5000 % 256, 3, 160]);
  expect([buffer.length, buffer.heldBytes, buffer.take().length]).toEqual([0, 0, 0]);
});

it("holds at most twice what it was given", () => {
  const buffer = new GrowingBuffer();
  for (let count = 0; count < 100_000; count += 1) buffer.append(Buffer.of(1));
  expect(buffer.heldBytes).toBeLessThanOrEqual(200_000);
});
