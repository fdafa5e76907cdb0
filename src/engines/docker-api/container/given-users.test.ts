import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "../../container-spec.ts";
import { ContainerUsers } from "../engine.ts";

const spec: ContainerSpec = {
  name: "glovebox-1",
  image: "base:1",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1_000_000, pids: 10 },
  scratch: [],
};

describe("ContainerUsers", () => {
  const users = (): ContainerUsers => new ContainerUsers((minimum) => minimum);

  it.each([undefined, "65527:65527"])("gives users of its own in place of %s", (processUser) => {
    const given = users();
    const both = [
      given.give({ ...spec, processUser }, "namespaces", null),
      given.give({ ...spec, processUser }, "namespaces", null),
    ];
    expect(both.map((each) => [each.spec.processUser, each.supervisor])).toEqual([
      ["60706:60706", 60_707],
      ["60708:60708", 60_709],
    ]);
  });

  it("gives them again once their container is gone, and only once", () => {
    const given = users();
    const first = given.give(spec, "namespaces", null);
    first.release();
    const second = given.give(spec, "namespaces", null);
    first.release();
    const third = given.give(spec, "namespaces", null);
    expect([second, third].map(({ supervisor }) => supervisor)).toEqual([60_707, 60_709]);
  });

  it("never makes the supervisor one of the programs, though there are more containers than users", () => {
    const given = users();
    const all = Array.from({ length: 300 }, () => given.give(spec, "namespaces", null));
    const same = all.filter((each) => each.spec.processUser === `${each.supervisor}:${each.supervisor}`);
    expect(same).toEqual([]);
  });

  it("gives the user that owns what the image's programs wrote, though another container has it", () => {
    const given = users();
    const both = [given.give(spec, "namespaces", 60_800), given.give(spec, "namespaces", 60_800)];
    expect(both.map(({ programs, supervisor }) => [programs, supervisor])).toEqual([
      [60_800, 60_706],
      [60_800, 60_707],
    ]);
  });

  it.each([0, 1000, 65_527, 60_705, 61_184])("gives no user that an image may not name (%i)", (owner) => {
    expect(users().give(spec, "namespaces", owner).programs).toBe(60_706);
  });

  it("leaves an owner and root who they are, with a supervisor that is neither", () => {
    for (const processUser of ["1000:1000", "0:0"]) {
      const given = users().give({ ...spec, processUser }, "namespaces", null);
      expect([given.spec.processUser, given.supervisor]).toEqual([processUser, 60_706]);
    }
  });

  it.each(["gvisor", "vm"] as const)(
    "leaves a container of kind %s as it is, whose kernel counts for it alone",
    (kind) => {
      expect(users().give(spec, kind, 60_800)).toMatchObject({ spec, supervisor: 65_533 });
    },
  );
});
