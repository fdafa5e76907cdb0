import { describe, expect, it } from "vitest";
import { hasHostUids, HostUids, nearUids, userLimits, userLimitsBelow } from "./container-users.ts";
import { readFileSync } from "node:fs";

describe("HostUids", () => {
  const range = { minimum: 10, maximum: 13 };

  it("gives each container a user of its own, and a released one again", () => {
    const uids = new HostUids(range, () => 12);
    expect([uids.take(), uids.take(), uids.take()]).toEqual([12, 10, 11]);
    uids.release(10);
    expect(uids.take()).toBe(10);
  });

  it("gives one twice rather than none", () => {
    const uids = new HostUids(range, () => 11);
    expect([1, 2, 3, 4].map(() => uids.take())).toEqual([11, 12, 10, 11]);
  });

  it("gives the one that is asked for though it is taken, until all who have it are gone, and none outside", () => {
    const uids = new HostUids(range, () => 12);
    expect([uids.take(11), uids.take(11), uids.take(9), uids.take(13), uids.take()]).toEqual([11, 11, 12, 10, 12]);
    uids.release(11);
    uids.release(12);
    uids.release(12);
    expect([uids.take(), uids.take(), uids.take()]).toEqual([12, 12, 12]);
  });

  it("has near ones that user namespaces without root map, and that no account, login screen or service has", () => {
    expect(nearUids.minimum).toBeGreaterThan(60_705);
    expect(nearUids.maximum).toBeLessThanOrEqual(61_184);
  });
});

describe("hasHostUids", () => {
  it.each([
    ["         0          0 4294967295\n", true],
    ["         0       1000          1\n", false],
    ["         0       1000          1\n         1     100000      65536\n", false],
    ["", false],
  ])("of the map %j is %s", (map, expected) => {
    expect(hasHostUids(() => map)).toBe(expected);
  });

  it("needs both maps", () => {
    expect(hasHostUids((path) => (path.includes("gid") ? "0 1000 1\n" : "0 0 4294967295\n"))).toBe(false);
  });
});

const own = `Limit                     Soft Limit           Hard Limit           Units
Max pending signals       200                  500                  signals
Max msgqueue size         819200               unlimited            bytes
Max locked memory         65536                8388608              bytes
`;

describe("userLimitsBelow", () => {
  it("raises no limit of the process above its own", () => {
    const values = Object.fromEntries(userLimitsBelow(own).map(({ name, value }) => [name, value]));
    expect(values).toEqual({ sigpending: 500, msgqueue: 262_144, memlock: 65_536 });
  });

  it("keeps ours where nothing is known", () => {
    expect(userLimitsBelow("")).toEqual(userLimits);
  });

  it.runIf(process.platform === "linux")("has the titles that the kernel shows", () => {
    const shown = readFileSync("/proc/self/limits", "utf8");
    for (const { title } of userLimits) expect(shown).toContain(title);
  });
});
