import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KnownCaveats } from "./live-events.ts";

let home = "";
const clock = { ms: 0 };
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), "glovebox-caveats-"));
  clock.ms = 1_000_000_000_000;
});
afterEach(() => rmSync(home, { recursive: true }));

/** As each command opens them. */
const caveats = (folder = "state"): KnownCaveats =>
  new KnownCaveats({ folder: path.join(home, folder), pid: 7, now: () => clock.ms });
const hours = (count: number): number => count * 3_600_000;

it("are new once a day, each on its own", () => {
  expect([caveats().isNew("a"), caveats().isNew("a"), caveats().isNew("b")]).toEqual([true, false, true]);
  clock.ms += hours(23.9);
  expect([caveats().isNew("a"), caveats().isNew("b")]).toEqual([false, false]);
  clock.ms += hours(0.2);
  expect([caveats().isNew("a"), caveats().isNew("a")]).toEqual([true, false]);
  clock.ms -= hours(48);
  expect(caveats().isNew("a")).toBe(true);
});

it("are new each time where nothing can be kept, or nothing of ours is there", () => {
  writeFileSync(path.join(home, "file"), "");
  expect([caveats("file/state").isNew("a"), caveats("file/state").isNew("a")]).toEqual([true, true]);
  caveats().isNew("a");
  const file = path.join(home, "state", "shown-caveats.json");
  for (const text of ["{", "[1]", '"x"', `{"x":"${"y".repeat(70_000)}"}`]) {
    writeFileSync(file, text);
    expect([caveats().isNew("a"), caveats().isNew("a")], text.slice(0, 9)).toEqual([true, false]);
  }
});

it("are kept within bounds, without what is old, and never written through a link", () => {
  const kept = caveats();
  for (let index = 0; index < 300; index += 1) kept.isNew(`caveat ${index}`);
  const file = path.join(home, "state", "shown-caveats.json");
  const count = (): number => Object.keys(JSON.parse(readFileSync(file, "utf8")) as object).length;
  expect(count()).toBe(200);
  clock.ms += hours(25);
  rmSync(file);
  const other = path.join(home, "other.json");
  writeFileSync(other, "{}");
  symlinkSync(other, file);
  expect(caveats().isNew("a")).toBe(true);
  expect(readFileSync(other, "utf8")).toBe("{}");
  expect(count()).toBe(1);
  expect(readdirSync(path.join(home, "state"))).toEqual(["shown-caveats.json"]);
});
