import { expect, it } from "vitest";
import { RequestRate } from "./key-ring.ts";

it("gives a minute's requests at once, then one each time that one has filled up, and says when", () => {
  let nowMs = 0;
  const rate = new RequestRate(6, () => nowMs);
  for (let number = 0; number < 6; number += 1) rate.take();
  const refused = (seconds: number): unknown =>
    expect.objectContaining({
      errorType: "CAPACITY",
      context: { requests_per_minute: 6, retry_after_seconds: seconds },
    });
  expect(() => rate.take()).toThrow(refused(10));
  nowMs = 9_900;
  expect(() => rate.take()).toThrow(refused(1));
  nowMs = 10_000;
  rate.take();
  expect(() => rate.take()).toThrow(refused(10));
});

it("saves up no more than one minute's requests", () => {
  let nowMs = 0;
  const rate = new RequestRate(2, () => nowMs);
  nowMs = 86_400_000;
  rate.take();
  rate.take();
  expect(() => rate.take()).toThrow(/2 requests per minute/);
});
