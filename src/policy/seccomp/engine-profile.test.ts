import { describe, expect, it } from "vitest";
import { engineSeccompProfile } from "./engine-profile.ts";
import { seccompPolicy } from "./seccomp-policy.ts";
import { syscallNumbers } from "./syscall-numbers.ts";

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
