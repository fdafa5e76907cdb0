import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { userLimits, userLimitsBelow } from "./user-limits.ts";

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
