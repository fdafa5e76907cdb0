import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withGivingUp } from "./http-caller.ts";

/** A run on a server whose answer and id come when a test says so. */
function scene() {
  const answer = Promise.withResolvers<string>();
  const giveUp = new AbortController();
  const ended: string[] = [];
  let begin: (id: string | null) => void = () => undefined;
  let hungUp = false;
  const result = withGivingUp(giveUp.signal, {
    run: (signal, onBegun) => {
      begin = onBegun;
      const hangUp = (): void => {
        hungUp = true;
        answer.reject(new Error("hung up"));
      };
      if (signal.aborted) hangUp();
      signal.addEventListener("abort", hangUp);
      return answer.promise;
    },
    end: (id) => {
      ended.push(id);
      return id === "run-unknown" ? Promise.reject(new Error("unknown")) : Promise.resolve();
    },
  });
  result.catch(() => undefined);
  return { answer, giveUp, ended, result, begin: (id: string | null) => begin(id), hungUp: () => hungUp };
}

describe("giving up a run on a server", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("ends it there and still reads its answer", async () => {
    const { answer, giveUp, begin, ended, result } = scene();
    begin("run-1");
    expect(ended).toEqual([]);
    giveUp.abort();
    expect(ended).toEqual(["run-1"]);
    answer.resolve("cancelled");
    expect(await result).toBe("cancelled");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits for its id", async () => {
    const { answer, giveUp, begin, ended, result } = scene();
    giveUp.abort();
    expect(ended).toEqual([]);
    begin("run-1");
    expect(ended).toEqual(["run-1"]);
    answer.resolve("cancelled");
    expect(await result).toBe("cancelled");
  });

  it("hangs up if the answer does not come in time", async () => {
    const { giveUp, begin, result, hungUp } = scene();
    begin("run-1");
    giveUp.abort();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(hungUp()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await expect(result).rejects.toThrow("hung up");
  });

  it.each([
    ["the server cannot end it", "run-unknown"],
    ["the server has no id for it", null],
  ])("hangs up if %s", async (_, id) => {
    const { giveUp, begin, result } = scene();
    begin(id);
    giveUp.abort();
    await expect(result).rejects.toThrow("hung up");
  });

  it("sends nothing if it was given up before", async () => {
    const begun = vi.fn();
    const giveUp = AbortSignal.abort();
    const run = (signal: AbortSignal): Promise<never> => {
      begun(signal.aborted);
      return Promise.reject(new Error("hung up"));
    };
    await expect(withGivingUp(giveUp, { run, end: () => Promise.resolve() })).rejects.toThrow("hung up");
    expect(begun).toHaveBeenCalledWith(true);
  });
});
