import { fstatSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { NetworkPool } from "./network-pool.ts";

const open = (): number => openSync(process.execPath, "r");
const isOpen = (descriptor: number): boolean => {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
};
/** None is made here: what is given back is enough. */
const pool = (): NetworkPool => new NetworkPool({} as ConstructorParameters<typeof NetworkPool>[0]);

it("hands out what was given back, to one container", async () => {
  const networks = pool();
  const [first, second] = [open(), open()];
  networks.giveBack(first);
  networks.giveBack(second);
  expect(isOpen(second)).toBe(false);
  await expect(networks.take(undefined)).resolves.toBe(first);
  // The next one would have to be made.
  await expect(networks.take(undefined)).rejects.toBeInstanceOf(TypeError);
});

it("closes what nobody took, and what is given back too late", async () => {
  const networks = pool();
  const [early, late] = [open(), open()];
  networks.giveBack(early);
  networks.close();
  networks.giveBack(late);
  await setImmediate();
  expect([early, late].map(isOpen)).toEqual([false, false]);
});
