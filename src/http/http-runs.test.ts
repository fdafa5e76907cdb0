import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { RunningCalls } from "../calls/running-calls.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { answerOf } from "./http-answer.ts";
import { HttpRun, IdempotencyKeys, KeptAnswer } from "./http-runs.ts";

const calls = new RunningCalls<KeptAnswer>(() => 0);

const begin =
  (response: unknown = "done") =>
  (): HttpRun =>
    new HttpRun(
      calls.start({
        ...{ operation: "some", principal: "ann", monotonicMs: () => 0 },
        work: () => Promise.resolve(response),
        conclude: (end) => new KeptAnswer(answerOf("response" in end ? end.response : null)),
      }),
    );

const code = (work: () => unknown): string => {
  try {
    work();
    return "no error";
  } catch (error) {
    return error instanceof GloveboxError ? error.errorType : String(error);
  }
};

describe("a key of a request", () => {
  const ann = { principal: "ann", content: { a: 1 } };

  it("stands for one run of its principal, and for no other request", () => {
    const keys = new IdempotencyKeys(() => 0);
    const run = keys.once("k", ann, begin());
    expect(keys.once("k", ann, begin())).toBe(run);
    expect(keys.once("k", { ...ann, principal: "bob" }, begin())).not.toBe(run);
    expect(keys.once("other", ann, begin())).not.toBe(run);
    expect(code(() => keys.once("k", { ...ann, content: { a: 2 } }, begin()))).toBe("INVALID_REQUEST");
    for (const bad of ["", "a b", "ä", "x".repeat(256)]) {
      expect(code(() => keys.once(bad, ann, begin()))).toBe("INVALID_REQUEST");
    }
  });

  it("is free again after a day", () => {
    let now = 0;
    const keys = new IdempotencyKeys(() => now);
    const run = keys.once("k", ann, begin());
    now = 24 * 3_600_000 - 1;
    expect(keys.once("k", ann, begin())).toBe(run);
    now += 2;
    expect(keys.once("k", ann, begin())).not.toBe(run);
  });

  it("whose answer is too much to keep with newer ones never begins a second run", async () => {
    const keys = new IdempotencyKeys(() => 0);
    const large = randomBytes(9 * 1024 * 1024).toString("base64");
    for (const key of ["first", "second"]) {
      const answer = await keys.once(key, ann, begin(large)).call.ended;
      await answer.pack();
    }
    expect(code(() => keys.once("first", ann, begin()))).toBe("ALREADY_EXISTS");
    expect(code(() => keys.once("second", ann, begin()))).toBe("no error");
  });

  it("of one principal beyond its share is dropped, its oldest first, and nobody else's", () => {
    const keys = new IdempotencyKeys(() => 0, { maxOfOne: 3 });
    const bob = keys.once("k", { ...ann, principal: "bob" }, begin());
    const [first, second] = ["1", "2", "3", "4"].map((key) => keys.once(key, ann, begin()));
    expect(keys.once("2", ann, begin())).toBe(second);
    expect(keys.once("k", { ...ann, principal: "bob" }, begin())).toBe(bob);
    expect(keys.once("1", ann, begin())).not.toBe(first);
  });

  it("of whoever has most is dropped when all have too many", () => {
    const keys = new IdempotencyKeys(() => 0, { maxOfAll: 4 });
    const bob = { ...ann, principal: "bob" };
    const modest = keys.once("k", bob, begin());
    const runs = ["1", "2", "3"].map((key) => keys.once(key, ann, begin()));
    const late = keys.once("l", { ...ann, principal: "late" }, begin());
    expect(keys.once("k", bob, begin())).toBe(modest);
    expect(keys.once("l", { ...ann, principal: "late" }, begin())).toBe(late);
    expect(keys.once("2", ann, begin())).toBe(runs[1]);
    expect(keys.once("1", ann, begin())).not.toBe(runs[0]);
  });

  it("keeps its answer while another principal's are too many", async () => {
    const keys = new IdempotencyKeys(() => 0, { maxTotalSize: 40_000 });
    const bob = { ...ann, principal: "bob" };
    const done = async (key: string, who: typeof ann): Promise<void> => {
      await (await keys.once(key, who, begin(randomBytes(6_000).toString("hex"))).call.ended).pack();
    };
    await done("k", bob);
    for (const key of ["1", "2", "3"]) await done(key, ann);
    expect(code(() => keys.once("1", ann, begin()))).toBe("ALREADY_EXISTS");
    for (const key of ["2", "3"]) expect(code(() => keys.once(key, ann, begin()))).toBe("no error");
    expect(code(() => keys.once("k", bob, begin()))).toBe("no error");
  });

  it("with an answer that is too large to keep does not cost the older ones", async () => {
    const keys = new IdempotencyKeys(() => 0, { maxAnswerSize: 20_000 });
    for (const [key, size] of Object.entries({ small: 10, large: 20_000 })) {
      await (await keys.once(key, ann, begin(randomBytes(size).toString("hex"))).call.ended).pack();
    }
    expect(code(() => keys.once("large", ann, begin()))).toBe("ALREADY_EXISTS");
    expect(code(() => keys.once("small", ann, begin()))).toBe("no error");
  });

  it("of a run whose client went away begins another", async () => {
    const keys = new IdempotencyKeys(() => 0);
    const run = keys.once("k", ann, begin());
    const gone = new AbortController();
    run.join(gone.signal);
    gone.abort();
    expect(run.isAbandoned).toBe(true);
    expect(keys.once("k", ann, begin())).not.toBe(run);
    await run.call.ended;
  });
});

it("a run waits for the last of its clients, and for none once it goes on by itself", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const run = begin()();
  for (const { signal } of [first, second]) run.join(signal);
  first.abort();
  expect(run.isAbandoned).toBe(false);
  second.abort();
  expect(run.isAbandoned).toBe(true);
  const free = begin()();
  free.goOn();
  free.join(first.signal);
  expect(free.isAbandoned).toBe(false);
});

const mebibyte = 1024 * 1024;
const head = { status: 200, isError: false, retryAfterSeconds: null };

it("a flood's answer takes a hundredth of its memory once it is packed, and reads as before", async () => {
  const body = JSON.stringify({ stdout: "a line that comes again, é and 🙂\n".repeat(100_000) });
  const kept = new KeptAnswer({ ...head, body });
  expect(await kept.read()).toEqual({ ...head, body });
  const packing = kept.pack();
  // Meanwhile as well.
  expect(await kept.read()).toEqual({ ...head, body });
  await packing;
  expect(kept.size).toBeLessThan(body.length / 50);
  expect(await kept.read()).toEqual({ ...head, body });
});

it("what does not compress, and what is short, stays as it is", async () => {
  const random = JSON.stringify({ stdout: randomBytes(mebibyte).toString("utf16le") });
  for (const body of [random, '{"stdout":"1\\n"}']) {
    const kept = new KeptAnswer({ ...head, body });
    await kept.pack();
    expect(kept.size).toBe(body.length);
    expect(await kept.read()).toEqual({ ...head, body });
  }
});
