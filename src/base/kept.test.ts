import { describe, expect, it } from "vitest";
import { Kept, LastFound } from "./kept.ts";
import { setImmediate as turn } from "node:timers/promises";

const keysIn = (kept: Kept<string>, keys: string): string =>
  keys
    .split("")
    .filter((key) => kept.get(key) !== undefined)
    .join("");

describe("Kept", () => {
  it("gives a value by its key until it is deleted or all are", () => {
    const kept = new Kept<string>({});
    expect(kept.get("a")).toBeUndefined();
    kept.set("a", "one");
    kept.set("a", "two");
    kept.set("b", "three");
    expect([kept.get("a"), kept.get("b"), kept.valuesOf("")]).toEqual(["two", "three", ["two", "three"]]);
    kept.delete("a");
    kept.delete("a");
    expect(keysIn(kept, "ab")).toBe("b");
    kept.clear();
    expect(keysIn(kept, "ab")).toBe("");
  });

  it("forgets what is older than it may be, and counts from the last time it was set", () => {
    let nowMs = 0;
    const kept = new Kept<string>({ now: () => nowMs, forMs: 100 });
    for (const key of "abc") kept.set(key, key);
    nowMs = 60;
    kept.set("b", "again");
    nowMs = 100;
    expect(keysIn(kept, "abc")).toBe("abc");
    nowMs = 101;
    expect([keysIn(kept, "abc"), kept.valuesOf("")]).toEqual(["b", ["again"]]);
    nowMs = 161;
    expect(keysIn(kept, "abc")).toBe("");
  });

  it("keeps so many, the newest, and goes by use where use is told", () => {
    const kept = new Kept<string>({ max: 64 });
    for (let number = 0; number < 64; number += 1) kept.set(`${number}`, "");
    expect([kept.use("0"), kept.get("1"), kept.use("none")]).toEqual(["", "", undefined]);
    kept.set("64", "");
    expect([kept.get("0"), kept.get("1"), kept.get("64")]).toEqual(["", undefined, ""]);
  });

  it("takes from a share that has more than its own bounds, and from no other", () => {
    const kept = new Kept<string>({ maxOfShare: 2, maxSizeOfShare: 10 });
    kept.set("z", "", { share: "bob", size: 10 });
    for (const key of "abc") kept.set(key, "", { share: "ann", size: 1 });
    expect(keysIn(kept, "abcz")).toBe("bcz");
    kept.set("d", "", { share: "ann", size: 9 });
    expect(keysIn(kept, "abcdz")).toBe("cdz");
  });

  it("takes from the share that has most when all have too many", () => {
    const kept = new Kept<string>({ max: 4 });
    kept.set("z", "", { share: "bob" });
    for (const key of "abc") kept.set(key, "", { share: "ann" });
    kept.set("l", "", { share: "late" });
    expect(keysIn(kept, "zabcl")).toBe("zbcl");
  });

  it("takes from the share that holds most when all hold too much", () => {
    const kept = new Kept<string>({ maxSize: 15 });
    kept.set("z", "", { share: "bob", size: 4 });
    for (const key of "ab") kept.set(key, "", { share: "ann", size: 4 });
    kept.set("c", "", { share: "carol", size: 4 });
    expect(keysIn(kept, "zabc")).toBe("zbc");
  });

  it("does not keep what alone is too large, nor an earlier value of its key, and the others stay", () => {
    const kept = new Kept<string>({ maxSize: 15, maxSizeOfShare: 10 });
    for (const key of "ab") kept.set(key, "", { size: 5 });
    expect(kept.set("b", "", { size: 11 })).toBe(false);
    expect(keysIn(kept, "ab")).toBe("a");
    expect([kept.set("c", "", { size: 5 }), keysIn(kept, "abc")]).toEqual([true, "ac"]);
  });

  it("tells of each key whose value goes", () => {
    let nowMs = 0;
    const dropped: string[] = [];
    const kept = new Kept<string>({ now: () => nowMs, forMs: 10, max: 2, onDrop: (key) => void dropped.push(key) });
    for (const key of "abc") kept.set(key, "");
    expect(dropped.splice(0)).toEqual(["a"]);
    kept.set("b", "again");
    expect(dropped.splice(0)).toEqual(["b"]);
    kept.delete("c");
    nowMs = 11;
    kept.get("b");
    expect(dropped).toEqual(["c", "b"]);
  });
});

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
