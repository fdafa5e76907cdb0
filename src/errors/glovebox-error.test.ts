import { expect, it } from "vitest";
import { GloveboxError, toGloveboxError } from "./glovebox-error.ts";

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
