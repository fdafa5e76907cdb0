import { describe, expect, it } from "vitest";
import { KeptTexts } from "./kept-texts.ts";

const cut = (field: string, whole: string) => ({ field, whole, mediaType: null }) as const;
const call = { id: "run-1", principal: "ann", operation: "execute_code" };

describe("kept texts", () => {
  it("are found by their URI, by their principal only", () => {
    const texts = new KeptTexts(() => 0);
    const uri = texts.store(cut("artifacts[0].content", "abc"), call);
    expect(uri).toBe("glovebox://runs/run-1/artifacts.0.content");
    expect(texts.find(uri!, "ann")).toMatchObject({
      text: "abc",
      operation: "execute_code",
      field: "artifacts[0].content",
    });
    expect(texts.find(uri!, "bob")).toBeNull();
    expect(texts.list("bob")).toEqual([]);
    expect(texts.find("glovebox://runs/run-2/stdout", "ann")).toBeNull();
  });

  it("are forgotten after a quarter of an hour", () => {
    let now = 0;
    const texts = new KeptTexts(() => now);
    texts.store(cut("stdout", "old"), call);
    now = 10 * 60_000;
    texts.store(cut("stderr", "new"), call);
    now = 16 * 60_000;
    expect(texts.list("ann").map(({ field }) => field)).toEqual(["stderr"]);
  });

  it("take at most 64 Mi characters, the oldest going first", () => {
    const texts = new KeptTexts(() => 0);
    const large = "x".repeat(30 * 1024 * 1024);
    for (const field of ["a", "b", "c"]) texts.store(cut(field, large), call);
    expect(texts.list("ann").map(({ field }) => field)).toEqual(["b", "c"]);
    expect(texts.store(cut("d", "x".repeat(64 * 1024 * 1024 + 1)), call)).toBeNull();
    texts.store(cut("b", "small"), call);
    texts.store(cut("d", large), call);
    expect(texts.list("ann").map(({ field }) => field)).toEqual(["c", "b", "d"]);
  });
});
