import { describe, expect, it } from "vitest";
import { Kept } from "./kept.ts";

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
