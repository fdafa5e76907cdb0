import { describe, expect, it } from "vitest";
import { PlaceRegistry } from "./place-registry.ts";

const quiet = (): undefined => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A place of a user, and what goes wrong at its end. */
interface Content {
  readonly hasImages: boolean;
  readonly failure: Error | null;
}

function registry(): PlaceRegistry<Content> {
  return new PlaceRegistry({
    noun: "environment",
    idleMs: 60_000,
    logger,
    end: ({ failure }) => (failure === null ? Promise.resolve() : Promise.reject(failure)),
    mayLeave: ({ hasImages }) => hasImages,
  });
}

describe("what places leave", () => {
  const failure = new Error("the engine is away");

  it("are live ones, and those with more than a sandbox whose end failed", async () => {
    const places = registry();
    const lost = places.enter("lost", "ann", { hasImages: false, failure });
    const built = places.enter("built", "ann", { hasImages: true, failure });
    const ended = places.enter("ended", "ann", { hasImages: true, failure: null });
    places.enter("live", "ann", { hasImages: false, failure: null });
    await expect(places.end(lost)).rejects.toBe(failure);
    await expect(places.end(built)).rejects.toBe(failure);
    await places.end(ended);
    expect(places.left).toEqual(["live", "built"]);
    await places.close();
    expect(places.left).toEqual(["built"]);
  });
});
