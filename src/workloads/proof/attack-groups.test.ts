import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../engines/capabilities.ts";
import { attacksOf, contained, open, type Attack } from "./attack.ts";
import { declaredAt, judgeAttack } from "./attack-groups.ts";

const [attack] = attacksOf({
  ...{ group: "G", control: "unsealed", deniedBy: "seccomp" },
  attacks: { one: "do it" },
  exceptions: { one: { podman: open("it is known") } },
}) as readonly [Attack];
const able = { isolation: "container", seccomp: "yes" } as Capabilities;

describe("judgeAttack", () => {
  it.each([
    [["BLOCKED: no"], "denied"],
    [["ESCAPED: yes"], "got_through"],
    [["ESCAPED: yes", "ESCAPED: yes"], "got_through"],
    [["ESCAPED: yes", "BLOCKED: no"], "unclear"],
    [["SILENT", "BLOCKED: no"], "denied"],
    [["BROKEN: x", "SILENT"], "unclear"],
    [["BROKEN: x", "ESCAPED: yes"], "unclear"],
    [[], "unclear"],
  ] as const)("of %j is %s", (tries, verdict) => {
    expect(judgeAttack(attack, { verdict: "denied" }, tries).verdict).toBe(verdict);
  });

  it("says why what is known to be open is", () => {
    const declared = declaredAt(attack, "podman", able);
    expect(judgeAttack(attack, declared, ["ESCAPED: x"])).toMatchObject({ verdict: "open", said: "it is known" });
  });
});

describe("declaredAt", () => {
  it("goes by what the engine enforces, and by the table where it is listed", () => {
    expect(declaredAt(attack, "docker", able)).toEqual({ verdict: "denied" });
    expect(declaredAt(attack, "apple", able)).toEqual({ verdict: "denied" });
    expect(declaredAt(attack, "docker", { ...able, seccomp: "no" })).toMatchObject({ verdict: "open" });
    const [onCluster] = attacksOf({
      ...{ group: "G", control: "unsealed", deniedBy: "seccomp" },
      attacks: { one: "do it" },
      exceptions: { one: { kubernetes: open("it is the node's") } },
    });
    expect(declaredAt(onCluster!, "kubernetes", able)).toEqual({ verdict: "open", why: "it is the node's" });
    const shared: Attack = { ...attack, whereShared: contained("it is its own") };
    expect(declaredAt(shared, "docker", { ...able, supervisor: "apart" })).toEqual({ verdict: "denied" });
    expect(declaredAt(shared, "docker", { ...able, supervisor: "shared" })).toMatchObject({ verdict: "contained" });
    // Another kernel: its column counts, whatever the engine is called.
    expect(declaredAt(attack, "podman", { ...able, seccomp: { substitute: "its own kernel" } })).toEqual({
      verdict: "denied",
    });
  });
});
