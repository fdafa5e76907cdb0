import { expect, it } from "vitest";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { followLog } from "./follow-log.ts";

/** A log of so many entries, of which a reading gives two at most. */
function pagesOf(count: number, isOver = true) {
  return (offset: number) => {
    const entries = [offset, offset + 1].filter((entry) => entry < count);
    const nextOffset = offset + entries.length;
    return Promise.resolve({ entries, nextOffset, isOver: isOver && nextOffset >= count });
  };
}

it("gives each entry once, from its offset on, across connections that break", async () => {
  let calls = 0;
  const read = async (offset: number) => {
    calls += 1;
    if (calls === 2 || calls === 4) throw new GloveboxError("NETWORK_ERROR", "The connection ended.");
    return pagesOf(7)(offset);
  };
  expect(await collect(followLog(read, { from: 1, follow: true }))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(calls).toBe(5);
});

it("ends at what is there when it does not follow, and asks then for no wait", async () => {
  const waits: number[] = [];
  const read = (offset: number, waitSeconds: number) => {
    waits.push(waitSeconds);
    return pagesOf(3, false)(offset);
  };
  expect(await collect(followLog(read, {}))).toEqual([0, 1, 2]);
  expect(new Set(waits)).toEqual(new Set([0]));
});

it("throws what is no broken connection at once, and CANCELLED when it is given up between two tries", async () => {
  const refused = (): Promise<never> => Promise.reject(new GloveboxError("NOT_FOUND", "There is none."));
  await expect(collect(followLog(refused, { follow: true }))).rejects.toMatchObject({ errorType: "NOT_FOUND" });
  const giveUp = new AbortController();
  const broken = (): Promise<never> => {
    giveUp.abort();
    return Promise.reject(new GloveboxError("NETWORK_ERROR", "No connection."));
  };
  const reading = collect(followLog(broken, { follow: true, signal: giveUp.signal }));
  await expect(reading).rejects.toMatchObject({ errorType: "CANCELLED" });
});

async function collect<Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}
