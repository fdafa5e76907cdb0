import { describe, expect, it } from "vitest";
import { Admission } from "./admission.ts";

const patient = { maxSandboxes: 2, queueLimit: 3, queueTimeoutMs: 60_000 };
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

  it("serves the principal with the fewest places first, then the first come", async () => {
    const admission = new Admission(patient);
    const held = [await admission.acquire("greedy"), await admission.acquire("greedy")];
    const order: string[] = [];
    const waiting = ["greedy", "modest", "other"].map((name) => admission.acquire(name).then(() => order.push(name)));
    held[0]?.release();
    await settled();
    expect(order).toEqual(["modest"]);
    held[1]?.release();
    await settled();
    expect(order).toEqual(["modest", "greedy"]);
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
});
