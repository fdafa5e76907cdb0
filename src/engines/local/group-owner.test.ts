import { describe, expect, it } from "vitest";
import { groupName, parseGroupOwner } from "./group-owner.ts";

const owner = { namespace: "4026531836", processId: 42, startTicks: "123456" };

describe("group names", () => {
  it("tell their owner again", () => {
    const name = groupName(owner, "sandbox-1");
    expect(name).toBe("4026531836.42.123456.sandbox-1");
    expect(parseGroupOwner(name)).toEqual(owner);
  });

  it("tell nobody when they are not ours", () => {
    for (const name of ["", "docker", "1.2.3", "1.2.3.", "a.1.2.x", "system.slice"])
      expect(parseGroupOwner(name)).toBeNull();
  });
});
