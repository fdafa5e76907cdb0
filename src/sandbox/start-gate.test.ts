import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { StartGate } from "./start-gate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** Starts that go on until they are ended. */
function scene(atOnce: number) {
  const gate = new StartGate(atOnce);
  const begun: string[] = [];
  const start = (name: string, engine = "docker", signal = never) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const passed = gate.pass(engine, signal, () => {
      begun.push(name);
      return ended;
    });
    return { end, passed };
  };
  const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
  return { start, begun, settle };
}

it("lets so many begin at once on each engine, the others in order as those end", async () => {
  const { start, begun, settle } = scene(2);
  const [first] = ["a", "b", "c", "d"].map((name) => start(name));
  start("e", "podman");
  await settle();
  expect(begun).toEqual(["a", "b", "e"]);
  first?.end();
  start("f");
  await settle();
  expect(begun, "one for one, and no newcomer first").toEqual(["a", "b", "e", "c"]);
});

it("a start that takes long holds up no other", async () => {
  const { start, begun, settle } = scene(1);
  const stuck = start("stuck");
  start("next");
  await settle(9_000);
  expect(begun).toEqual(["stuck"]);
  await settle(1_001);
  start("last");
  expect(begun).toEqual(["stuck", "next"]);
  stuck.end();
  await settle();
  expect(begun, "its turn was passed on before").toEqual(["stuck", "next"]);
});

it("one that is given up while it waits leaves the others their turn", async () => {
  const { start, begun, settle } = scene(1);
  const first = start("first");
  const giveUp = new AbortController();
  const second = start("second", "docker", giveUp.signal);
  start("third");
  giveUp.abort();
  await expect(second.passed).rejects.toMatchObject({ errorType: "CANCELLED" });
  first.end();
  await settle();
  expect(begun).toEqual(["first", "third"]);
});
