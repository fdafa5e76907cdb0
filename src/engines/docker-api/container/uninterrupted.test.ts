import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { uninterrupted } from "./uninterrupted.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("uninterrupted", () => {
  it("gives the result and undoes nothing", async () => {
    const undo = vi.fn();
    expect(await uninterrupted(() => Promise.resolve(7), undo, new AbortController().signal)).toBe(7);
    expect(undo).not.toHaveBeenCalled();
  });

  it("does not begin what was given up before", async () => {
    const begin = vi.fn();
    await expect(uninterrupted(begin, vi.fn(), AbortSignal.abort())).rejects.toMatchObject({ errorType: "CANCELLED" });
    expect(begin).not.toHaveBeenCalled();
  });

  it("given up, tells so only when the result is undone", async () => {
    const controller = new AbortController();
    const begun = Promise.withResolvers<string>();
    const steps: string[] = [];
    const undo = (result: string): Promise<void> => {
      steps.push(`undo ${result}`);
      return Promise.resolve();
    };
    const running = uninterrupted(() => begun.promise, undo, controller.signal).catch((error: unknown) => {
      steps.push(error instanceof GloveboxError ? error.errorType : "another error");
    });
    controller.abort();
    await vi.advanceTimersByTimeAsync(100);
    expect(steps).toEqual([]);
    begun.resolve("made");
    await running;
    expect(steps).toEqual(["undo made", "CANCELLED"]);
  });

  it("given up, does not wait for ever, and undoes a late result", async () => {
    const controller = new AbortController();
    const begun = Promise.withResolvers<string>();
    const undo = vi.fn(() => Promise.resolve());
    const told = Promise.allSettled([uninterrupted(() => begun.promise, undo, controller.signal)]);
    controller.abort();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await told).toMatchObject([{ status: "rejected", reason: { errorType: "CANCELLED" } }]);
    begun.resolve("late");
    await vi.advanceTimersByTimeAsync(0);
    expect(undo).toHaveBeenCalledWith("late");
  });

  it("passes a failure on as it is", async () => {
    const failing = uninterrupted(() => Promise.reject(new Error("refused")), vi.fn(), undefined);
    await expect(failing).rejects.toThrow("refused");
  });
});
