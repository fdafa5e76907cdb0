import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pollUntilEnded } from "./poll-until-ended.ts";

const never = Promise.withResolvers<void>().promise;

describe("pollUntilEnded", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("looks by itself, more and more seldom, at least once a second", async () => {
    const look = vi.fn(() => Promise.resolve("running" as const));
    void pollUntilEnded(look, never);
    await vi.advanceTimersByTimeAsync(99);
    expect(look).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(look).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_400);
    expect(look).toHaveBeenCalledTimes(4);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(look).toHaveBeenCalledTimes(64);
  });

  it("looks at once at the nudge, and again a little later while the engine lags behind", async () => {
    const answers = ["running", "running", "ended"] as const;
    let asked = 0;
    const nudge = Promise.withResolvers<void>();
    const found = pollUntilEnded(() => Promise.resolve(answers[asked++] ?? "ended"), nudge.promise);
    await vi.advanceTimersByTimeAsync(50);
    nudge.resolve();
    await vi.advanceTimersByTimeAsync(10);
    expect(await found).toBe("ended");
    expect(asked).toBe(3);
  });

  it("does not miss a nudge that comes during a look", async () => {
    const nudge = Promise.withResolvers<void>();
    const first = Promise.withResolvers<"running">();
    const looks = [first.promise, Promise.resolve(null)];
    const found = pollUntilEnded(() => looks.shift() ?? Promise.resolve(null), nudge.promise);
    await vi.advanceTimersByTimeAsync(100);
    nudge.resolve();
    await vi.advanceTimersByTimeAsync(0);
    first.resolve("running");
    await vi.advanceTimersByTimeAsync(5);
    expect(await found).toBeNull();
  });

  it("passes a failed look on", async () => {
    const found = pollUntilEnded(() => Promise.reject(new Error("gone")), Promise.resolve());
    const settled = Promise.allSettled([found]);
    await vi.advanceTimersByTimeAsync(10);
    expect(await settled).toMatchObject([{ status: "rejected", reason: { message: "gone" } }]);
  });
});
