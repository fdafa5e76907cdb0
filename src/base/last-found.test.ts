import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { LastFound } from "./last-found.ts";

function scene(): {
  readonly last: LastFound<number>;
  readonly find: () => Promise<readonly [value: number, isNew: boolean]>;
  readonly looks: PromiseWithResolvers<number>[];
  readonly pass: (ms: number) => void;
} {
  let nowMs = 1_000;
  const last = new LastFound<number>({ maxAgeMs: 100, now: () => nowMs });
  const looks: PromiseWithResolvers<number>[] = [];
  const look = (): Promise<number> => {
    looks.push(Promise.withResolvers<number>());
    return looks.at(-1)!.promise;
  };
  const find = async (): Promise<readonly [number, boolean]> => {
    const { value, isNew } = await last.find("key", look, undefined);
    return [value, isNew];
  };
  return { last, find, looks, pass: (ms) => void (nowMs += ms) };
}

it("waits for the first look, then answers at once and looks again, one look at a time", async () => {
  const { find, looks } = scene();
  const first = [find(), find()];
  expect(looks).toHaveLength(1);
  looks[0]!.resolve(1);
  expect(await Promise.all(first)).toEqual([
    [1, true],
    [1, true],
  ]);
  expect([await find(), await find()]).toEqual([
    [1, false],
    [1, false],
  ]);
  expect(looks).toHaveLength(2);
  looks[1]!.resolve(2);
  await turn();
  expect(await find()).toEqual([2, false]);
});

it.each([101, -1])(
  "waits when what was found is older than it may be, or of a clock that was set (%d ms)",
  async (ms) => {
    const { find, looks, pass } = scene();
    const first = find();
    looks[0]!.resolve(1);
    await first;
    pass(ms);
    const later = find();
    looks[1]!.resolve(2);
    expect(await later).toEqual([2, true]);
  },
);

it("keeps nothing after a look that failed", async () => {
  const { find, looks } = scene();
  const first = find();
  looks[0]!.resolve(1);
  await first;
  await find();
  looks[1]!.reject(new Error("down"));
  await expect(looks[1]!.promise).rejects.toThrow("down");
  const later = find();
  await Promise.resolve();
  looks.at(-1)!.reject(new Error("down still"));
  await expect(later).rejects.toThrow("down still");
});

it("forgets what was found, and what is being looked for", async () => {
  const { last, find, looks } = scene();
  const first = find();
  looks[0]!.resolve(1);
  await first;
  await find();
  last.forget();
  const later = find();
  expect(looks).toHaveLength(3);
  looks[1]!.resolve(2);
  looks[2]!.resolve(3);
  expect(await later).toEqual([3, true]);
  expect((await find())[0]).toBe(3);
});

it("goes on looking for the others when one gives up", async () => {
  const { last, find, looks } = scene();
  const abort = new AbortController();
  const look = Promise.withResolvers<number>();
  const givenUp = last.find("key", () => look.promise, abort.signal);
  const other = find();
  abort.abort();
  await expect(givenUp).rejects.toThrow("cancelled");
  look.resolve(3);
  expect([await other, looks]).toEqual([[3, true], []]);
});
