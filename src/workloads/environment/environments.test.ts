import { afterEach, describe, expect, it } from "vitest";
import { Environments } from "./environments.ts";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const caller = { principal: "one" };
const failure = new Error("no such image");

describe("Environments", () => {
  const environments = new Environments({ idleMs: 1000, logger: silent });
  const givenUp: string[] = [];
  /** An environment that goes on coming up until it is given up. */
  const comingUp = (id: string, principal = "one") =>
    environments.create({ id }, { principal }, (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => {
        givenUp.push(id);
        reject(failure);
      });
      return promise;
    });
  afterEach(() => givenUp.splice(0));

  it("gives an id back when the environment could not be made", async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      await expect(environments.create({ id: "a" }, caller, () => Promise.reject(failure))).rejects.toBe(failure);
    }
    await expect(environments.find("a", "one")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    expect(await environments.list("one")).toEqual([]);
  });

  it("takes an id once for each principal, from the first moment on", async () => {
    const first = comingUp("a");
    await expect(comingUp("a")).rejects.toMatchObject({ errorType: "ALREADY_EXISTS", context: { env_id: "a" } });
    const others = comingUp("a", "two");
    const ended = Promise.allSettled([first, others]);
    await environments.destroy("a", "one");
    expect(givenUp).toEqual(["a"]);
    await environments.destroy("a", "two");
    expect(await ended).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  });

  it("knows nothing of another principal's, and names one's own", async () => {
    const mine = comingUp("mine");
    const theirs = comingUp("theirs", "two");
    const ended = Promise.allSettled([mine, theirs]);
    await expect(environments.destroy("theirs", "one")).rejects.toMatchObject({
      errorType: "NOT_FOUND",
      context: { env_id: "theirs", env_ids: ["mine"] },
    });
    await environments.destroy("mine", "one");
    await environments.destroy("theirs", "two");
    await ended;
    await expect(environments.destroy("mine", "one")).rejects.toMatchObject({ context: { env_ids: [] } });
  });

  it("gives up what is coming up when it closes, and lets nothing in", async () => {
    const last = Promise.allSettled([comingUp("a"), comingUp("b", "two")]);
    await environments.close();
    expect(givenUp.toSorted()).toEqual(["a", "b"]);
    await last;
    await expect(comingUp("c")).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});
