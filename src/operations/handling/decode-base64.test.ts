import { describe, expect, it } from "vitest";
import { outcomeOf } from "../../../test/helpers/outcome-of.ts";
import { decodeBase64 } from "./decode-base64.ts";

describe("decodeBase64", () => {
  it.each([
    ["", ""],
    ["aGVsbG8=", "hello"],
    ["aGVsbG8", "hello"],
    ["aGVs\r\nbG8=\n", "hello"],
    ["_-8", "\xff\xef"],
  ])("reads %j", (text, expected) => {
    expect(decodeBase64(text, "content").toString("latin1")).toBe(expected);
  });

  it.each(["print('hello')", "A=\nA=\n", "aGVsbG8==x", "a", "aaaaa", "aGVs*", "====", "aGVsbG8===", "é".repeat(3)])(
    "refuses %j, which would be read as something else",
    async (text) => {
      expect(await outcomeOf(Promise.resolve().then(() => decodeBase64(text, "files[0].content")))).toMatchObject({
        errorType: "INVALID_REQUEST",
        context: { field: "files[0].content" },
      });
    },
  );
});
