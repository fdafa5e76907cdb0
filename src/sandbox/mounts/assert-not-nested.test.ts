import { describe, expect, it } from "vitest";
import { isNested } from "./assert-not-nested.ts";

describe("isNested", () => {
  it.each(["/a/b", "/a/b/c", "/a/..b"])("says that %s lies below /a", (given) => {
    expect(isNested(given, ["/x", "/a"])).toBe(true);
  });

  it.each(["/a", "/", "/ab", "/b/a"])("says that %s does not", (given) => {
    expect(isNested(given, ["/x", "/a"])).toBe(false);
  });
});
