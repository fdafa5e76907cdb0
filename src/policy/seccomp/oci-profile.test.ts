import { describe, expect, it } from "vitest";
import { ociSeccompProfile } from "./oci-profile.ts";

describe("the whole policy as an OCI profile", () => {
  const profile = ociSeccompProfile();

  it("lists the 32-bit conventions, whose users an engine would kill otherwise", () => {
    expect(profile.archMap).toEqual([
      { architecture: "SCMP_ARCH_X86_64", subArchitectures: ["SCMP_ARCH_X86", "SCMP_ARCH_X32"] },
      { architecture: "SCMP_ARCH_AARCH64", subArchitectures: ["SCMP_ARCH_ARM"] },
    ]);
  });

  it("refuses the multiplexers first, always, and with an errno that is no engine's default", () => {
    expect(profile.syscalls[0]).toMatchObject({ names: ["socketcall", "ipc"], action: "SCMP_ACT_ERRNO", args: [] });
    expect([1, profile.defaultErrnoRet]).not.toContain(profile.syscalls[0]?.errnoRet);
  });

  it("refuses the 32-bit mmap by a bit that 32-bit conventions do not have, before any other rule for mmap", () => {
    const first = profile.syscalls.find(({ names }) => names.includes("mmap"));
    expect(first).toMatchObject({ names: ["mmap"], action: "SCMP_ACT_ERRNO" });
    expect([1, profile.defaultErrnoRet]).not.toContain(first?.errnoRet);
    expect(first?.args.map(({ value, valueTwo }) => [value % 2 ** 32, value === valueTwo])).toEqual([[0, true]]);
    // JSON has it to the last digit.
    expect(JSON.stringify(first)).toContain("4503599627370496");
  });

  it("never kills", () => {
    const actions = new Set([profile.defaultAction, ...profile.syscalls.map(({ action }) => action)]);
    expect([...actions].toSorted()).toEqual(["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"]);
  });

  it("says the errno of every refusal, EPERM being what a missing one means", () => {
    expect(
      profile.syscalls.filter(({ action, errnoRet }) => (action === "SCMP_ACT_ERRNO") !== (errnoRet !== undefined)),
    ).toEqual([]);
  });

  it("tests an argument once a rule, because runc takes two tests of one for alternatives", () => {
    for (const { args } of profile.syscalls) {
      expect(new Set(args.map(({ index }) => index)).size).toBe(args.length);
    }
  });

  it("gives a call without conditions one rule only", () => {
    const [unconditional = [], conditional = []] = [true, false].map((always) =>
      profile.syscalls.filter(({ args }) => (args.length === 0) === always).flatMap(({ names }) => names),
    );
    expect(unconditional).toEqual([...new Set(unconditional)]);
    expect(new Set([...unconditional, ...conditional]).size).toBe(unconditional.length + new Set(conditional).size);
  });

  it("refuses clone3 by name, for engines whose default errno is EPERM", () => {
    expect(profile.syscalls.find(({ names }) => names.includes("clone3"))).toMatchObject({ errnoRet: 38, args: [] });
  });

  it("is plain JSON", () => {
    expect(JSON.parse(JSON.stringify(profile))).toEqual(profile);
  });
});
