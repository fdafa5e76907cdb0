import { describe, expect, it } from "vitest";
import { Admission } from "./admission.ts";

const patient = { maxSandboxes: 2, queueLimit: 3, queueTimeoutMs: 3_600_000 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Admission", () => {
  it("lets in as many as there are places and the next one when one is given back", async () => {
    const admission = new Admission(patient);
    const first = await admission.acquire("a");
    await admission.acquire("a");
    let third = false;
    const waiting = admission.acquire("a").then(() => (third = true));
    await settled();
    expect(third).toBe(false);
    first.release();
    await waiting;
    expect(third).toBe(true);
  });

  it("counts a place given back twice once", async () => {
    const admission = new Admission({ ...patient, maxSandboxes: 1, queueTimeoutMs: 20 });
    const place = await admission.acquire("a");
    place.release();
    place.release();
    await admission.acquire("a");
    await expect(admission.acquire("a")).rejects.toMatchObject({ errorType: "CAPACITY" });
  });

  it("has room for the request that gets a place on its way back, and asks nobody to make any", async () => {
    let asked = 0;
    const admission = new Admission({ ...patient, maxSandboxes: 1, queueLimit: 1, onWaiting: () => (asked += 1) });
    const place = await admission.acquire("a");
    place.returning();
    place.returning();
    const waiting = [admission.acquire("a")];
    expect(asked).toBe(0);
    waiting.push(admission.acquire("a"));
    expect([admission.waiting, asked]).toEqual([2, 1]);
    await expect(admission.acquire("a")).rejects.toMatchObject({ errorType: "CAPACITY" });
    place.release();
    (await waiting[0])?.release();
    await waiting[1];
    void admission.acquire("a");
    await expect(admission.acquire("a"), "it is back").rejects.toMatchObject({ errorType: "CAPACITY" });
  });

  it("serves the principal with the fewest places first, then the one served longest ago", async () => {
    const admission = new Admission(patient);
    const held = [await admission.acquire("greedy"), await admission.acquire("greedy")];
    const order: string[] = [];
    const waiting = ["greedy", "modest", "other"].map((name) => admission.acquire(name).then(() => order.push(name)));
    held[0]?.release();
    await settled();
    expect(order).toEqual(["modest"]);
    held[1]?.release();
    await settled();
    expect(order).toEqual(["modest", "other"]);
    void waiting;
  });

  it("does not let a newcomer take the place that a waiter was given", async () => {
    const admission = new Admission({ ...patient, maxSandboxes: 1 });
    const place = await admission.acquire("a");
    const order: string[] = [];
    const waiter = admission.acquire("a").then(() => order.push("waiter"));
    place.release();
    const newcomer = admission.acquire("a").then(() => order.push("newcomer"));
    await waiter;
    await settled();
    expect(order).toEqual(["waiter"]);
    void newcomer;
  });

  it("refuses at once when the queue is full, and after the time limit, saying when to retry", async () => {
    const admission = new Admission({ maxSandboxes: 1, queueLimit: 1, queueTimeoutMs: 20 });
    await admission.acquire("a");
    const queued = admission.acquire("a");
    await expect(admission.acquire("b")).rejects.toMatchObject({
      errorType: "CAPACITY",
      message: expect.stringContaining("queue is full"),
      context: { retry_after_seconds: 1 },
    });
    await expect(queued).rejects.toMatchObject({ errorType: "CAPACITY" });
  });

  it("lets a cancelled waiter leave the queue", async () => {
    const admission = new Admission({ ...patient, maxSandboxes: 1, queueLimit: 1 });
    const place = await admission.acquire("a");
    const controller = new AbortController();
    const waiter = admission.acquire("a", controller.signal);
    controller.abort();
    await expect(waiter).rejects.toMatchObject({ errorType: "CANCELLED" });
    const next = admission.acquire("b");
    place.release();
    await expect(next).resolves.toBeDefined();
  });

  it("takes turns between principals that hold as many places, whoever came first", async () => {
    const admission = new Admission({ ...patient, maxSandboxes: 1, queueLimit: 20 });
    const first = await admission.acquire("greedy");
    const order: string[] = [];
    const run = async (name: string): Promise<void> => {
      const place = await admission.acquire(name);
      order.push(name);
      place.release();
    };
    const all = [...Array(6).fill("greedy"), ...Array(3).fill("modest")].map(run);
    first.release();
    await Promise.all(all);
    expect(order.slice(0, 6)).toEqual(["modest", "greedy", "modest", "greedy", "modest", "greedy"]);
    expect(order).toHaveLength(9);
  });

  it("gives a modest principal at least 40 % of the starts while both wait, for any number of places", async () => {
    for (const maxSandboxes of [1, 2, 3, 5, 10]) {
      const admission = new Admission({ ...patient, maxSandboxes, queueLimit: 200 });
      const starts: string[] = [];
      let modestWaits = 20;
      const run = async (name: string): Promise<void> => {
        const place = await admission.acquire(name);
        if (modestWaits > 0) starts.push(name);
        if (name === "modest") modestWaits -= 1;
        await settled();
        place.release();
      };
      const greedy = Array.from({ length: 180 }, () => run("greedy"));
      starts.length = 0;
      await Promise.all([...greedy, ...Array.from({ length: 20 }, () => run("modest"))]);
      const bothWaited = starts.slice(maxSandboxes);
      const share = bothWaited.filter((name) => name === "modest").length / bothWaited.length;
      expect(share, `${maxSandboxes} places`).toBeGreaterThanOrEqual(0.4);
    }
  });

  it("lets one principal fill the whole queue, and others push its last requests out of it", async () => {
    const admission = new Admission({ maxSandboxes: 1, queueLimit: 4, queueTimeoutMs: 3_600_000 });
    const place = await admission.acquire("greedy");
    const ends: string[] = [];
    const ask = (principal: string, name: string): Promise<unknown> =>
      admission.acquire(principal).then(
        (given) => {
          ends.push(name);
          given.release();
        },
        (error: unknown) => ends.push(`${name} ${(error as { errorType: string }).errorType}`),
      );
    const waiting = [1, 2, 3, 4, 5].map((number) => ask("greedy", `greedy ${number}`));
    await settled();
    expect(ends).toEqual(["greedy 5 CAPACITY"]);
    waiting.push(...[1, 2, 3].map((number) => ask("modest", `modest ${number}`)));
    await settled();
    expect(ends.toSorted()).toEqual([3, 4, 5].map((number) => `greedy ${number} CAPACITY`).concat("modest 3 CAPACITY"));
    expect(admission.waiting).toBe(4);
    place.release();
    await Promise.all(waiting);
    expect(ends.slice(4)).toEqual(["modest 1", "greedy 1", "modest 2", "greedy 2"]);
  });

  it("holds a principal to its own maximum, in the queue too, while others pass it", async () => {
    const admission = new Admission({ maxSandboxes: 3, queueLimit: 3, queueTimeoutMs: 3_600_000 });
    admission.setMaximum("bounded", 1);
    const place = await admission.acquire("bounded");
    const order: string[] = [];
    const second = admission.acquire("bounded").then(() => order.push("second"));
    await admission.acquire("other");
    await admission.acquire("other");
    expect(admission.waiting).toBe(1);
    place.release();
    await second;
    expect(order).toEqual(["second"]);
  });

  it("tells a principal at its own maximum so, and admits its waiters when that is raised", async () => {
    const admission = new Admission({ maxSandboxes: 3, queueLimit: 3, queueTimeoutMs: 20 });
    admission.setMaximum("bounded", 1);
    await admission.acquire("bounded");
    await expect(admission.acquire("bounded")).rejects.toMatchObject({
      errorType: "CAPACITY",
      message: expect.stringContaining("The 1 sandboxes that you may have at once"),
      context: { max_sandboxes: 1, retry_after_seconds: 1 },
    });
    const waiter = admission.acquire("bounded");
    admission.setMaximum("bounded", null);
    await expect(waiter).resolves.toBeDefined();
  });

  it("loses no place whatever leaves the queue, in whatever order", async () => {
    const admission = new Admission({ maxSandboxes: 2, queueLimit: 10, queueTimeoutMs: 3_600_000 });
    const held = [await admission.acquire("a"), await admission.acquire("b")];
    const controllers = Array.from({ length: 6 }, () => new AbortController());
    const waiting = controllers.map((controller, index) =>
      admission.acquire(index % 2 === 0 ? "a" : "b", controller.signal).catch(() => null),
    );
    for (const index of [4, 0, 3]) controllers[index]?.abort();
    for (const place of held) place.release();
    const given = await Promise.race([Promise.all([waiting[1], waiting[2]]), Promise.all(waiting)]);
    expect(given.every((place) => place !== null)).toBe(true);
    expect(admission.waiting).toBe(1);
    given[0]?.release();
    (await waiting[5])?.release();
    given[1]?.release();
    await admission.acquire("c");
    await admission.acquire("c");
    expect(admission.waiting).toBe(0);
  });

  it("counts for whom a principal could make room: itself, and those below their maximum", async () => {
    const admission = new Admission({ maxSandboxes: 2, queueLimit: 5, queueTimeoutMs: 3_600_000 });
    admission.setMaximum("bounded", 1);
    await admission.acquire("bounded");
    void admission.acquire("bounded");
    expect(["bounded", "other"].map((principal) => admission.waitingFor(principal))).toEqual([1, 0]);
    await admission.acquire("other");
    void admission.acquire("other");
    expect(["bounded", "other"].map((principal) => admission.waitingFor(principal))).toEqual([2, 1]);
  });
});
