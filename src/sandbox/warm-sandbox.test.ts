import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Engine, Process } from "../engines/engine.ts";
import type { Sandbox } from "./sandbox.ts";
import { WarmPool, type WarmPoolOptions } from "./warm-pool.ts";
import { isWell, type SpareSandbox, type WarmKind } from "./warm-sandbox.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("one whose program ends while its container is asked is not well", async () => {
  const spare = { hasEnded: false } as SpareSandbox;
  const isAlive = (): Promise<boolean> => Promise.resolve(true);
  expect(await isWell({ ...spare, sandbox: { isAlive } as unknown as Sandbox })).toBe(true);
  const ending = (): Promise<boolean> => {
    dying.hasEnded = true;
    return Promise.resolve(true);
  };
  const dying: SpareSandbox = { ...spare, sandbox: { isAlive: ending } as unknown as Sandbox };
  expect(await isWell(dying)).toBe(false);
});

it("what is mounted in one that could not be made ready is held until it is gone", async () => {
  const order: string[] = [];
  const note = (what: string) => (): Promise<void> => Promise.resolve(void order.push(what));
  const sandbox = { remove: note("removed") } as unknown as Sandbox;
  const quiet = (): undefined => undefined;
  const options = {
    bounds: { min: 0, max: 1, idleMs: 1_000, maxAgeMs: 1_000, minFreeBytes: 0 },
    sandboxes: { create: () => Promise.resolve(sandbox), adopt: quiet },
    admission: { taken: 0, acquireNow: () => null, lend: () => ({ release: quiet }) },
    availableMemoryBytes: () => 1,
    processors: 1,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    now: () => Date.now(),
    monotonicMs: () => Date.now(),
  } satisfies WarmPoolOptions;
  const kind: WarmKind = {
    ...{ key: "kind", worthFrom: 1 },
    engine: { name: "docker", images: { identity: () => Promise.resolve("image") } } as unknown as Engine,
    plan: {} as WarmKind["plan"],
    hold: () => Promise.resolve({ [Symbol.asyncDispose]: note("released") }),
    prepare: (): Promise<Process> => Promise.reject(new Error("no program")),
  };
  const pool = new WarmPool(options);
  await pool.take(kind, { principal: "ann", identity: {} });
  await vi.advanceTimersByTimeAsync(1_000);
  pool.close();
  expect(order).toEqual(["removed", "released"]);
});
