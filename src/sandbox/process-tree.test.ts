import { expect, it } from "vitest";
import type { Process } from "../engines/engine.ts";
import { settleAfter } from "./process-tree.ts";

it("waits for what a program left behind, once the program itself has ended", async () => {
  let asked = 0;
  const isGone = (): Promise<boolean> => Promise.resolve(++asked === 3);
  const process: Pick<Process, "exit" | "isGone"> = { exit: Promise.resolve({ exitCode: 143 }), isGone };
  await settleAfter(Promise.resolve(), process);
  expect(asked).toBe(3);
});

it("leaves to SIGKILL what an engine that is away does not tell the end of", async () => {
  const isGone = (): Promise<boolean> => Promise.reject(new Error("no engine"));
  const process: Pick<Process, "exit" | "isGone"> = { exit: Promise.resolve({ exitCode: 143 }), isGone };
  await expect(settleAfter(Promise.resolve(), process)).resolves.toBeUndefined();
});

it("waits no longer than the grace time", async () => {
  const process: Pick<Process, "exit" | "isGone"> = {
    exit: Promise.resolve({ exitCode: 143 }),
    isGone: () => Promise.resolve(false),
  };
  const startedMs = performance.now();
  await settleAfter(Promise.resolve(), process);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(740);
});
