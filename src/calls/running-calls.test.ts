import { describe, expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { RunningCalls, KeptCalls, RunningCall, type RunningCallOptions } from "./running-calls.ts";

/** A call that ends when it is given up. */
function patientCall(principal = "ann"): RunningCallOptions<string> {
  return {
    operation: "wait",
    principal,
    monotonicMs: () => 0,
    work: ({ signal, onEvent }) => {
      void onEvent({ type: "sandbox", sandboxId: "sbx-1" });
      void onEvent({ type: "output", stream: "stdout", bytes: Buffer.from("so far") });
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new GloveboxError("CANCELLED", "Given up.")));
      });
    },
    conclude: (end) => ("error" in end ? end.error.errorType : "done"),
  };
}

const code = (work: () => unknown): string => {
  try {
    work();
    return "no error";
  } catch (error) {
    return error instanceof GloveboxError ? error.errorType : String(error);
  }
};

describe("calls", () => {
  it("can be asked for by their id, by their principal, once they are kept", () => {
    const calls = new RunningCalls<string>(() => 0);
    const call = calls.start(patientCall());
    expect(code(() => calls.find(call.id, "ann"))).toBe("NOT_FOUND");
    calls.keep(call);
    expect(calls.find(call.id, "ann")).toBe(call);
    expect([call.sandboxId, call.stdout.text()]).toEqual(["sbx-1", "so far"]);
    expect(code(() => calls.find(call.id, "bob"))).toBe("NOT_FOUND");
    expect(code(() => calls.find("run-other", "ann"))).toBe("NOT_FOUND");
  });

  it("are forgotten a quarter of an hour after their end, not while they work", async () => {
    let now = 0;
    const calls = new RunningCalls<string>(() => now);
    const [ended, working] = [calls.start(patientCall()), calls.start(patientCall())];
    for (const call of [ended, working]) calls.keep(call);
    ended.cancel();
    expect(await ended.ended).toBe("CANCELLED");
    now = 14 * 60_000;
    expect(calls.find(ended.id, "ann")).toBe(ended);
    now = 16 * 60_000;
    expect(code(() => calls.find(ended.id, "ann"))).toBe("NOT_FOUND");
    expect(calls.find(working.id, "ann")).toBe(working);
  });

  it("are not without number", () => {
    const calls = new RunningCalls<string>(() => 0);
    for (let started = 0; started < 192; started += 1) calls.start(patientCall());
    expect(code(() => calls.start(patientCall()))).toBe("CAPACITY");
    for (let started = 0; started < 192; started += 1) calls.start(patientCall("bob"));
    expect(code(() => calls.start(patientCall("bob")))).toBe("CAPACITY");
    expect(calls.working("bob")).toHaveLength(192);
  });

  it("leave room for another key when a dozen start all they may", () => {
    const calls = new RunningCalls<string>(() => 0);
    for (let key = 0; key < 12; key += 1) while (code(() => calls.start(patientCall(`key-${key}`))) === "no error");
    for (let started = 0; started < 8; started += 1)
      expect(code(() => calls.start(patientCall("late")))).toBe("no error");
  });

  it("of one principal end together, those of others go on", async () => {
    const calls = new RunningCalls<string>(() => 0);
    const [own, other] = [calls.start(patientCall()), calls.start(patientCall("bob"))];
    calls.cancelAll("ann");
    expect(await own.ended).toBe("CANCELLED");
    expect(calls.working("bob")).toEqual([other]);
  });

  it("end together, and none begins after that", async () => {
    const calls = new RunningCalls<string>(() => 0);
    const started = [calls.start(patientCall()), calls.start(patientCall("bob"))];
    await calls.close();
    for (const call of started) expect(await call.ended).toBe("CANCELLED");
    expect(code(() => calls.start(patientCall()))).toBe("CANCELLED");
  });
});

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
