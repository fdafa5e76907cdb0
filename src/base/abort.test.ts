import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Deadline } from "./abort.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("a deadline aborts when its time is over", async () => {
  using deadline = new Deadline(20);
  expect(deadline.signal.aborted).toBe(false);
  await sleep(60);
  expect(deadline.signal.reason).toMatchObject({ name: "TimeoutError", message: "not done within 20 ms" });
});

it("a deadline whose work has ended never aborts and leaves no timer", async () => {
  const before = timers();
  const deadline = new Deadline(20);
  deadline[Symbol.dispose]();
  expect(timers()).toBe(before);
  await sleep(60);
  expect(deadline.signal.aborted).toBe(false);
});
