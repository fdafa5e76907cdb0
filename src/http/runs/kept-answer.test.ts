import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { KeptAnswer } from "./kept-answer.ts";

const mebibyte = 1024 * 1024;
const head = { status: 200, isError: false, retryAfterSeconds: null };

it("a flood's answer takes a hundredth of its memory once it is packed, and reads as before", async () => {
  const body = JSON.stringify({ stdout: "a line that comes again, é and 🙂\n".repeat(100_000) });
  const kept = new KeptAnswer({ ...head, body });
  expect(await kept.read()).toEqual({ ...head, body });
  const packing = kept.pack();
  // Meanwhile as well.
  expect(await kept.read()).toEqual({ ...head, body });
  await packing;
  expect(kept.size).toBeLessThan(body.length / 50);
  expect(await kept.read()).toEqual({ ...head, body });
});

it("what does not compress, and what is short, stays as it is", async () => {
  const random = JSON.stringify({ stdout: randomBytes(mebibyte).toString("utf16le") });
  for (const body of [random, '{"stdout":"1\\n"}']) {
    const kept = new KeptAnswer({ ...head, body });
    await kept.pack();
    expect(kept.size).toBe(body.length);
    expect(await kept.read()).toEqual({ ...head, body });
  }
});
