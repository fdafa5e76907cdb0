import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { errorCode } from "./error-code.ts";
import { toGloveboxError } from "./glovebox-error.ts";

const ofAnotherRealm = (source: string): unknown => runInNewContext(source);

describe("the code of an error", () => {
  it("is that of an error of any realm", () => {
    const foreign = ofAnotherRealm('Object.assign(new Error("x"), { code: "ENOENT" })');
    expect(foreign).not.toBeInstanceOf(Error);
    expect(errorCode(foreign)).toBe("ENOENT");
    expect(errorCode(Object.assign(new Error("x"), { code: "EACCES" }))).toBe("EACCES");
  });

  it.each([null, undefined, "ENOENT", new Error("x"), { code: 2 }])("is empty for %j, which has none", (error) => {
    expect(errorCode(error)).toBe("");
  });
});

it("what a suppressing error of another realm hides is found", () => {
  const inner = toGloveboxError(new Error("x"));
  const suppressing = Object.assign(ofAnotherRealm('new Error("y")') as object, { suppressed: inner });
  expect(toGloveboxError(suppressing)).toBe(inner);
});
