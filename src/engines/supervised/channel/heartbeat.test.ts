import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Heartbeat } from "./channel.ts";

describe("Heartbeat", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function beating(): { readonly heart: Heartbeat; readonly counts: { pings: number; silences: number } } {
    const counts = { pings: 0, silences: 0 };
    const heart = new Heartbeat({
      times: { pingMs: 1000, maxUnanswered: 3 },
      ping: () => (counts.pings += 1),
      onSilence: () => (counts.silences += 1),
    });
    heart.start();
    return { heart, counts };
  }

  it("asks again and again, and stays content with one that answers", () => {
    const { heart, counts } = beating();
    for (let beat = 0; beat < 10; beat += 1) {
      vi.advanceTimersByTime(1000);
      heart.answered();
    }
    expect(counts).toEqual({ pings: 10, silences: 0 });
    heart.stop();
    vi.advanceTimersByTime(10_000);
    expect(counts.pings).toBe(10);
  });

  it("notices silence after its questions, and not before", () => {
    const { counts } = beating();
    vi.advanceTimersByTime(3_999);
    expect(counts).toEqual({ pings: 3, silences: 0 });
    vi.advanceTimersByTime(1_002);
    expect(counts.silences).toBeGreaterThan(0);
  });

  it("reads what came while this process was stopped before it judges", () => {
    const { heart, counts } = beating();
    vi.advanceTimersByTime(3_000);
    // The timer fires first, then what has come is read.
    setTimeout(() => heart.answered(), 1000);
    vi.advanceTimersByTime(1_500);
    expect(counts.silences).toBe(0);
  });

  it("is patient with a sandbox that is being paused, and begins anew after it", async () => {
    const { heart, counts } = beating();
    const work = Promise.withResolvers<string>();
    const frozen = heart.whileFrozen(() => work.promise);
    vi.advanceTimersByTime(60_000);
    expect(counts.silences).toBe(0);
    work.resolve("committed");
    expect(await frozen).toBe("committed");
    vi.advanceTimersByTime(2_999);
    expect(counts.silences).toBe(0);
    vi.advanceTimersByTime(3_000);
    expect(counts.silences).toBeGreaterThan(0);
  });
});
