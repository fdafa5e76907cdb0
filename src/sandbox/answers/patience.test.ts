import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Patience, PatienceLost } from "./patience.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const never = new Promise<never>(() => undefined);
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function waitsFor(patience: Patience, ms: number): Promise<boolean> {
  const waiting = patience.wait(after(ms), undefined).then(
    () => true,
    (error: unknown) => !(error instanceof PatienceLost),
  );
  await vi.advanceTimersByTimeAsync(ms);
  return waiting;
}

describe("patience", () => {
  it("is lost after 30 s without anything", async () => {
    const lost = new Patience().wait(never, undefined).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await lost).toBeInstanceOf(PatienceLost);
  });

  it("is lost in many small waits as in one", async () => {
    const patience = new Patience();
    const waits: boolean[] = [];
    for (let count = 0; count < 4; count++) {
      patience.earn(1);
      waits.push(await waitsFor(patience, 9_000));
    }
    expect(waits).toEqual([true, true, true, false]);
  });

  it("comes back with bytes, never beyond what it was", async () => {
    const patience = new Patience();
    for (let count = 0; count < 10; count++) {
      patience.earn(1_000_000_000);
      expect(await waitsFor(patience, 29_000)).toBe(true);
    }
    patience.earn(1_000_000_000);
    expect(await waitsFor(patience, 31_000)).toBe(false);
  });

  it("does not count the time between waits", async () => {
    const patience = new Patience();
    expect(await waitsFor(patience, 20_000)).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await waitsFor(patience, 9_000)).toBe(true);
  });

  it("ends with its caller's", async () => {
    const abort = new AbortController();
    const waiting = new Patience().wait(never, abort.signal);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});
