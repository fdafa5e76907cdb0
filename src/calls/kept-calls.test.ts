import { expect, it } from "vitest";
import { KeptCalls } from "./kept-calls.ts";
import { RunningCall } from "./running-call.ts";

const callOf = (principal: string, answer: string): RunningCall<string> =>
  new RunningCall({
    ...{ operation: "some", principal, monotonicMs: () => 0 },
    work: () => Promise.resolve(),
    conclude: () => answer,
  });

it("answers are kept within the size of their principal, the newest first, and no other's suffer", async () => {
  const kept = new KeptCalls<string>({ monotonicMs: () => 0, sizeOf: ({ length }) => length, maxSize: 10 });
  const own = ["aaaa", "bbbb", "cccc"].map((answer) => callOf("ann", answer));
  const bobs = callOf("bob", "dddddddd");
  for (const call of [...own, bobs]) kept.keep(call);
  await Promise.all([...own, bobs].map(({ ended }) => ended));
  expect(own.map(({ id }) => kept.find(id, "ann") !== undefined)).toEqual([false, true, true]);
  expect(kept.find(bobs.id, "bob")).toBe(bobs);
  expect(kept.find(bobs.id, "ann")).toBeUndefined();
});

it("of one principal the newest 256 are kept", async () => {
  const kept = new KeptCalls<string>({ monotonicMs: () => 0 });
  const calls = Array.from({ length: 300 }, () => callOf("ann", ""));
  for (const call of calls) kept.keep(call);
  await Promise.all(calls.map(({ ended }) => ended));
  expect(calls.filter(({ id }) => kept.find(id, "ann") !== undefined)).toEqual(calls.slice(-256));
});

it("of all answers together, who holds most gives up its oldest first", async () => {
  const sizes = { sizeOf: ({ length }: string) => length, maxSize: 10, maxTotalSize: 15 };
  const kept = new KeptCalls<string>({ monotonicMs: () => 0, ...sizes });
  const bobs = callOf("bob", "dddd");
  const anns = ["aaaa", "bbbb"].map((answer) => callOf("ann", answer));
  const carols = callOf("carol", "eeee");
  for (const call of [bobs, ...anns, carols]) kept.keep(call);
  await Promise.all([bobs, ...anns, carols].map(({ ended }) => ended));
  expect(anns.map(({ id }) => kept.find(id, "ann") !== undefined)).toEqual([false, true]);
  expect([kept.find(bobs.id, "bob"), kept.find(carols.id, "carol")]).toEqual([bobs, carols]);
});

it("an answer is counted as it is once it is packed", async () => {
  const packed = new Set<string>();
  const kept = new KeptCalls<string>({
    monotonicMs: () => 0,
    pack: async (answer) => void packed.add(answer),
    sizeOf: (answer) => (packed.has(answer) ? 1 : answer.length),
    maxSize: 3,
  });
  const calls = ["aaaa", "bbbb", "cccc", "dddd"].map((answer) => callOf("ann", answer));
  for (const call of calls) kept.keep(call);
  await Promise.all(calls.map(({ ended }) => ended));
  await expect.poll(() => calls.map(({ id }) => kept.find(id, "ann") !== undefined)).toEqual([false, true, true, true]);
});
