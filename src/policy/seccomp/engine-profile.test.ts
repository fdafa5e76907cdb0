import { describe, expect, it } from "vitest";
import { engineSeccompProfile, patternsOutside, ociSeccompProfile, type BitPattern } from "./engine-profile.ts";
import { seccompPolicy } from "./seccomp-policy.ts";
import { syscallNumbers } from "./syscalls.ts";

const profile = engineSeccompProfile();

describe("SC2: the profile that an engine gets", () => {
  it("refuses nothing that the policy allows, to programs or to installers", () => {
    const always = profile.syscalls.filter(({ args }) => args.length === 0);
    expect(always.every(({ action }) => action === "SCMP_ACT_ERRNO")).toBe(true);
    for (const options of [{ setuidBits: false }, { setuidBits: true }]) {
      const policy = seccompPolicy(options);
      for (const name of always.flatMap(({ names }) => names)) {
        expect([name, policy.get(name) ?? "EPERM"]).toEqual([name, expect.stringMatching(/^(EPERM|ENOSYS)$/)]);
      }
    }
  });

  it("names only calls that there are", () => {
    const known = new Set([...syscallNumbers("x64").keys(), ...syscallNumbers("arm64").keys()]);
    const unknown = profile.syscalls.flatMap(({ names }) => names).filter((name) => !known.has(name));
    expect(unknown).toEqual([]);
  });

  it("refuses what the requirements name, and each flag of clone that makes a namespace", () => {
    const names = profile.syscalls.flatMap(({ names: some }) => some);
    const least = `ptrace process_vm_readv process_vm_writev mount pivot_root keyctl bpf perf_event_open userfaultfd
      io_uring_setup kexec_load init_module finit_module clock_settime unshare setns clone3`;
    expect(names).toEqual(expect.arrayContaining(least.split(/\s+/)));
    const flags = profile.syscalls.filter(({ names: [name] }) => name === "clone").map(({ args: [test] }) => test);
    expect(flags.every((test) => test?.index === 0 && test.value === test.valueTwo)).toBe(true);
    // CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET of linux/sched.h.
    const all = [0x80, 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
    expect(flags.map((test) => test?.value)).toEqual(all);
  });

  it("never kills, whatever the architecture", () => {
    const actions = new Set([profile.defaultAction, ...profile.syscalls.map(({ action }) => action)]);
    expect([...actions].toSorted()).toEqual(["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"]);
    expect(
      profile.archMap.flatMap(({ architecture, subArchitectures }) => [architecture, ...subArchitectures]),
    ).toEqual(["X86_64", "X86", "X32", "AARCH64", "ARM"].map((name) => `SCMP_ARCH_${name}`));
  });

  it("is plain JSON", () => {
    expect(JSON.parse(JSON.stringify(profile))).toEqual(profile);
  });
});

const matches = (number: number, { mask, value }: BitPattern): boolean => (number & mask) >>> 0 === value;

describe("patternsOutside", () => {
  it("matches every other number exactly once and none of the values", () => {
    const values = [1, 2, 10, 16];
    const patterns = patternsOutside(0xff, values);
    for (let number = 0; number < 256; number += 1) {
      const hits = patterns.filter((pattern) => matches(number, pattern)).length;
      expect(hits, `number ${number}`).toBe(values.includes(number) ? 0 : 1);
    }
  });

  it("parts values after the bits in which they agree, so that there are few", () => {
    // Bit by bit from the highest, it would take 44.
    const requests = [0x5412, 0x541c, 0x5423, 0x6602, 0x5820];
    expect(patternsOutside(0xffff, requests).length).toBeLessThanOrEqual(36);
    expect(patternsOutside(0xff, [0x0f, 0x8f])).toHaveLength(7);
  });

  it("looks only at the mask's bits", () => {
    expect(patternsOutside(0xf000, [0x1000]).every(({ mask }) => (mask & ~0xf000) === 0)).toBe(true);
  });

  it("reaches the highest bit without turning negative", () => {
    const patterns = patternsOutside(0xffff_ffff, [0xffff_ffff]);
    expect(patterns).toHaveLength(32);
    expect(patterns.every(({ mask, value }) => mask > 0 && value >= 0)).toBe(true);
    const numbers = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe];
    for (const number of [...numbers, 0xffff_ffff]) {
      const hits = patterns.filter((pattern) => matches(number, pattern)).length;
      expect(hits, `number ${number}`).toBe(numbers.includes(number) ? 1 : 0);
    }
  });

  it("is one pattern for everything when there is no value, and nothing when all are values", () => {
    expect(patternsOutside(0xff, [])).toEqual([{ mask: 0, value: 0 }]);
    expect(patternsOutside(0x1, [0, 1])).toEqual([]);
  });
});

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
