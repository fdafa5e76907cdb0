import { describe, expect, it } from "vitest";
import { passagesOf } from "./memory-index.ts";

describe("passagesOf", () => {
  it("keeps what is short together, and begins anew at headings", () => {
    expect(passagesOf("one\n\ntwo\r\n\r\n# A\nthree\n\nfour\n## B\nfive")).toEqual([
      "one\ntwo",
      "# A\nthree\nfour",
      "## B\nfive",
    ]);
  });

  it("cuts what is long, and gives each part its heading", () => {
    const passages = passagesOf(`# A\n${"x".repeat(900)}\n\n${"y".repeat(2_500)}`);
    expect(passages.length).toBeGreaterThan(3);
    expect(passages.every((passage) => passage.startsWith("# A\n") && passage.length < 1_100)).toBe(true);
    expect(passages.join("").match(/y/g)).toHaveLength(2_500);
  });

  it("finds nothing in nothing", () => {
    expect(passagesOf("")).toEqual([]);
    expect(passagesOf("\n \n\n")).toEqual([]);
  });
});
