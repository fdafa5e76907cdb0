import { expect, it, describe } from "vitest";
import { GloveboxError, toGloveboxError, errorCode } from "./glovebox-error.ts";
import { runInNewContext } from "node:vm";

it("an error stays the one that is told when its clean-up fails as well", async () => {
  const first = new GloveboxError("CAPACITY", "No place.");
  const work = async (): Promise<void> => {
    await using _ = { [Symbol.asyncDispose]: () => Promise.reject(new Error("not removed")) };
    throw first;
  };
  const thrown = await work().catch((error: unknown) => error);
  expect(thrown).not.toBe(first);
  expect(toGloveboxError(thrown)).toBe(first);
});

it("an error that nobody foresaw is INTERNAL and shows nothing", () => {
  const error = new Error("/home/me/secret");
  expect(toGloveboxError(error)).toMatchObject({ errorType: "INTERNAL", cause: error });
  expect(JSON.stringify(toGloveboxError(error).toWire())).not.toContain("secret");
});

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
