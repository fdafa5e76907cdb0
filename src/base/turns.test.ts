import { describe, expect, it } from "vitest";
import { Turns } from "./turns.ts";

describe("Turns", () => {
  it("come in order, one at a time", async () => {
    const turns = new Turns();
    const seen: number[] = [];
    let atOnce = 0;
    const work = async (number: number): Promise<void> => {
      const end = await turns.take();
      expect(++atOnce).toBe(1);
      await Promise.resolve();
      seen.push(number);
      atOnce--;
      end();
      end();
    };
    await Promise.all([1, 2, 3, 4].map(work));
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(turns.isFree).toBe(true);
  });

  it("end with the work that they were taken for, also when it fails", async () => {
    const turns = new Turns();
    const failed = turns.during(() => Promise.reject(new Error("no engine")));
    const next = turns.during(() => Promise.resolve(turns.isFree));
    await expect(failed).rejects.toThrow("no engine");
    expect(await next).toBe(false);
    expect(turns.isFree).toBe(true);
  });

  it("passes over who gave up waiting", async () => {
    const turns = new Turns();
    const end = await turns.take();
    const giveUp = new AbortController();
    const impatient = turns.take(giveUp.signal);
    const patient = turns.take();
    expect(turns.waiting).toBe(2);
    giveUp.abort();
    await expect(impatient).rejects.toMatchObject({ errorType: "CANCELLED" });
    end();
    const endSecond = await patient;
    expect(turns.isFree).toBe(false);
    endSecond();
    expect(turns.isFree).toBe(true);
    await expect(turns.take(giveUp.signal)).rejects.toMatchObject({ errorType: "CANCELLED" });
    expect(turns.isFree).toBe(true);
  });
});
