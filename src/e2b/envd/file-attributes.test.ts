import { expect, it } from "vitest";
import { parseAttributes } from "./file-attributes.ts";

it("reads what the tool tells, and nothing that it cannot have told", () => {
  expect(parseAttributes("author=mish&b%20c=x%3D%26%25%0A&empty=&bytes=%FF")).toEqual({
    ...{ author: "mish", "b c": "x=&%\n", empty: "", bytes: "\u{fffd}" },
  });
  for (const text of ["", "&&", "=x", "a", "a=b=c", "a=%zz", "a=b\n", "a=<", `a=${"x".repeat(20_000)}`]) {
    expect(parseAttributes(text), text.slice(0, 20)).toEqual({});
  }
});
