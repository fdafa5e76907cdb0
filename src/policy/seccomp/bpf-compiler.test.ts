import { describe, expect, it } from "vitest";
import { auditArchitecture, interpretBpf as interpret } from "../../../test/helpers/interpret-bpf.ts";
import { compileSeccompFilter, encodeBpf } from "./bpf-compiler.ts";
import { ociSeccompProfile } from "./engine-profile.ts";
import { syscallNumbers, type SyscallArchitecture } from "./syscalls.ts";

const architectures = ["x64", "arm64"] as const;
const filters = { x64: compileSeccompFilter("x64"), arm64: compileSeccompFilter("arm64") };

function verdict(architecture: SyscallArchitecture, name: string, ...args: (number | bigint)[]): string {
  const number = syscallNumbers(architecture).get(name);
  if (number === undefined) throw new Error(`no ${name} on ${architecture}`);
  return interpret(filters[architecture], auditArchitecture[architecture], number, args.map(BigInt))[0];
}

/** The high half of an argument that the kernel takes as an int. */
const high = 0xdead_beefn << 32n;

describe.each(architectures)("SC2: the filter for %s", (architecture) => {
  const check = (name: string, ...args: (number | bigint)[]): string => verdict(architecture, name, ...args);

  it("is a program that the kernel accepts", () => {
    const filter = filters[architecture];
    const length = filter.length / 8;
    expect(length).toBeLessThan(600);
    const isJump = (at: number): boolean => filter[8 * at] === 0x15 || filter[8 * at] === 0x35;
    for (const at of Array.from({ length }, (_, index) => index).filter(isJump)) {
      expect(at + 1 + Math.max(...filter.subarray(8 * at + 2, 8 * at + 4))).toBeLessThan(length);
    }
    expect(filter[8 * (length - 1)]).toBe(0x06);
  });

  it.each(
    `read write openat mmap mprotect brk futex execve exit_group wait4 clone socket ioctl connect sendmsg getrandom statx
     epoll_pwait inotify_add_watch memfd_create prctl seccomp rseq close_range faccessat2 fchmodat2 pidfd_open shmget
     setsockopt getsockopt setresuid fchownat`.split(/\s+/),
  )("runs %s", (name) => {
    expect(check(name, 1, 1)).toBe("allow");
  });

  it.each(
    `ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp mount umount2 pivot_root chroot move_mount
     open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr add_key request_key keyctl unshare setns bpf
     perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register kexec_load kexec_file_load init_module
     finit_module delete_module clock_settime settimeofday adjtimex clock_adjtime swapon swapoff reboot syslog acct quotactl
     quotactl_fd nfsservctl name_to_handle_at open_by_handle_at lookup_dcookie vhangup memfd_secret fanotify_init
     fanotify_mark sethostname setdomainname vmsplice move_pages migrate_pages mbind set_mempolicy file_setattr
     lsm_set_self_attr process_mrelease`.split(/\s+/),
  )("refuses %s", (name) => {
    expect(check(name)).toBe("errno 1");
  });

  it.each("clone3 statmount io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents".split(" "))(
    "does not implement %s, without which programs do",
    (name) => {
      expect(check(name, 1, 1)).toBe("errno 38");
    },
  );

  it("refuses each flag of clone that makes a namespace, also among others and under a filled high half", () => {
    const threadFlags = 0x3d_0f00n;
    expect(check("clone", threadFlags)).toBe("allow");
    expect(check("clone", high | 17n)).toBe("allow");
    for (const bit of [7n, 17n, 25n, 26n, 27n, 28n, 29n, 30n]) {
      expect(check("clone", 1n << bit), `bit ${bit}`).toBe("errno 1");
      expect(check("clone", high | threadFlags | (1n << bit)), `bit ${bit}`).toBe("errno 1");
    }
  });

  it("knows four address families", () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    expect(families.filter((family) => check("socket", family, 1) === "allow")).toEqual([1, 2, 10, 16]);
    expect(families.filter((family) => check("socketpair", family, 1) === "allow")).toEqual([1]);
    for (const family of [17n, 38n, 40n]) expect(check("socket", high | family, 1)).toBe("errno 38");
    expect(check("socket", high | 1n, 1)).toBe("allow");
  });

  it("refuses a raw socket, and a packet socket that calls itself inet, whatever flags the type carries", () => {
    const [flags, raw, packet] = [0x8_0800, 3, 10];
    expect(check("socket", 2, raw | flags, 1)).toBe("errno 1");
    expect(check("socket", 2, packet | flags)).toBe("errno 38");
    expect(check("socket", 2, high | BigInt(packet))).toBe("errno 38");
  });

  it("has no netlink but that of routes, whatever the type and the high half say", () => {
    for (const type of [2, 3, 0x8_0803]) expect(check("socket", 16, type, 0)).toBe("allow");
    for (let protocol = 1; protocol < 32; protocol += 1) {
      const refusal = protocol === 9 ? "errno 93" : "errno 38";
      expect(check("socket", 16, 3, protocol), `protocol ${protocol}`).toBe(refusal);
      expect(check("socket", 16, 0x8_0002, high | BigInt(protocol)), `protocol ${protocol}`).toBe(refusal);
    }
    expect(check("socket", high | 16n, 3, high)).toBe("allow");
  });

  it("has TCP and UDP, and no other protocol of the internet", () => {
    const known = Array.from({ length: 263 }, (_, protocol) => protocol);
    for (const family of [2, 10]) {
      const taken = (type: number): number[] =>
        known.filter((protocol) => check("socket", family, type | 0x8_0800, high | BigInt(protocol)) === "allow");
      expect(taken(1)).toEqual([0, 6]);
      expect(taken(2)).toEqual([0, 17]);
      for (const type of [3, 5, 6, 10]) expect(taken(type), `type ${type}`).toEqual([]);
      expect(check("socket", family, 2, 136), "UDP-Lite").toBe("errno 38");
      expect(check("socket", family, 1, 262), "MPTCP").toBe("errno 38");
    }
    expect(check("socket", 1, 2, 136)).toBe("allow");
  });

  it.each([
    ["mmap", 3, 0x4_0000, [0x22, 0x32, 0x4022, 0x2_0022]],
    ["memfd_create", 1, 0x4, [0, 1, 2, 3, 8, 0x10]],
    ["shmget", 2, 0x800, [0, 0o666, 0o1666, 0o3600, 0x1000]],
  ] as const)("refuses huge pages by %s, of whatever size, and nothing else", (name, argument, bit, plain) => {
    const answer = (flags: bigint): string => check(name, ...Array.from({ length: argument }, () => 0), flags);
    for (const size of [0n, 14n, 16n, 19n, 20n, 21n, 23n, 24n, 25n, 28n, 29n, 30n, 31n, 34n, 63n]) {
      expect(answer((size << 26n) | BigInt(bit)), `size ${size}`).toBe("errno 1");
      expect(answer(high | (size << 26n) | BigInt(bit | plain[1])), `size ${size}`).toBe("errno 1");
    }
    for (const flags of plain) {
      expect(answer(BigInt(flags)), `flags ${flags}`).toBe("allow");
      expect(answer(high | BigInt(flags)), `flags ${flags}`).toBe("allow");
    }
  });

  it("refuses programs on sockets, keys of TCP, and no other option of any level that sockets have", () => {
    const refusedOptions = new Map([
      [1, [26, 50, 51, 52]],
      [6, [14, 31, 32, 38, 39, 40]],
    ]);
    const all = Array.from({ length: 128 }, (_, name) => name);
    for (const level of [0, 1, 6, 17, 41, 58, 255, 270]) {
      for (const half of [0n, high]) {
        const answer = (name: number): string => check("setsockopt", 3, half | BigInt(level), half | BigInt(name));
        const refused = all.filter((name) => answer(name) !== "allow");
        expect(refused, `level ${level}`).toEqual(refusedOptions.get(level) ?? []);
      }
    }
  });

  it("refuses typing into the terminal and leaving the disk's quota", () => {
    for (const request of [0x5412, 0x541c, 0x5423, 0x4008_6602, 0x4004_6602, 0x401c_5820]) {
      expect(check("ioctl", 0, request), request.toString(16)).toBe("errno 1");
      expect(check("ioctl", 0, high | BigInt(request)), request.toString(16)).toBe("errno 1");
    }
    for (const request of [0x5401, 0x5413, 0x5421, 0x8008_6601, 0x801c_581f, 0x4004_9409]) {
      expect(check("ioctl", 0, request), request.toString(16)).toBe("allow");
    }
  });

  it("makes files, FIFOs and sockets but no devices", () => {
    for (const mode of [0o644, 0o100_644, 0o010_644, 0o140_644]) expect(check("mknodat", 0, 0, mode)).toBe("allow");
    for (const mode of [0o020_644, 0o060_644]) expect(check("mknodat", 0, 0, mode)).toBe("errno 1");
  });

  it("refuses the setuid bit in each call that can set it, and in no other mode", () => {
    const [create, temporary, directory] = [0x40, 0x40_0000, 0x1_0000];
    type Call = readonly [name: string, mode: number, ...before: number[]];
    const older: readonly Call[] = [
      ["chmod", 1, 0],
      ["creat", 1, 0],
      ["mknod", 1, 0],
      ["open", 2, 0, create],
      ["open", 2, 0, temporary | directory],
    ];
    const calls: readonly Call[] = [
      ["fchmod", 1, 3],
      ["fchmodat", 2, 3, 0],
      ["fchmodat2", 2, 3, 0],
      ["mknodat", 2, 3, 0],
      ["openat", 3, 3, 0, create],
      ["openat", 3, 3, 0, temporary | directory],
      ["openat", 3, 3, 0, create | temporary],
      ...(architecture === "arm64" ? [] : older),
    ];
    for (const [name, mode, ...before] of calls) {
      const answer = (value: number | bigint): string => check(name, ...before.slice(0, mode), value);
      for (const bits of [0o4000, 0o4755, 0o6777, 0o7777, 0o104_755]) {
        expect(answer(bits), `${name} ${bits.toString(8)}`).toBe("errno 1");
        expect(answer(high | BigInt(bits)), name).toBe("errno 1");
      }
      for (const bits of [0, 0o644, 0o755, 0o2755, 0o3777, 0o100_644]) {
        expect(answer(bits), `${name} ${bits.toString(8)}`).toBe("allow");
        expect(answer(high | BigInt(bits)), name).toBe("allow");
      }
    }
    // Without a file to make there is no mode: what stands there is left over from something else.
    expect(check("openat", 3, 0, 0o2, 0o4755)).toBe("allow");
    expect(check("openat2", 3, 0, 0, 24)).toBe("errno 38");
    expect(check("mkdirat", 3, 0, 0o4755)).toBe("allow");
  });

  it("queries the personality and changes nothing that weakens a process", () => {
    for (const persona of [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff]) expect(check("personality", persona)).toBe("allow");
    for (const persona of [0x4_0000, 0x40_0000, 0xffff_fffe]) expect(check("personality", persona)).toBe("errno 38");
    expect(check("personality", high | 0x4_0000n)).toBe("errno 38");
  });

  it("does not implement what it does not know", () => {
    const number = (value: number): string =>
      interpret(filters[architecture], auditArchitecture[architecture], value, [])[0];
    for (const value of [423, 470, 520, 1000, 0x3fff_ffff, 0x4000_0000, 0x4000_0027, 0x7fff_ffff, 0xffff_ffff]) {
      expect(number(value), value.toString(16)).toBe("errno 38");
    }
  });

  it("does not implement another architecture's convention", () => {
    const others = Object.entries(auditArchitecture).filter(([name]) => name !== architecture);
    for (const [name, audit] of others) {
      for (const number of [0, 1, 63, 102]) {
        expect(interpret(filters[architecture], audit, number, [])[0], name).toBe("errno 38");
      }
    }
  });

  it("decides every call within 28 instructions", () => {
    const steps = [...syscallNumbers(architecture).values()].map(
      (number) => interpret(filters[architecture], auditArchitecture[architecture], number, [])[1],
    );
    expect(Math.max(...steps)).toBeLessThanOrEqual(28);
  });
});

describe("SC2: the filter and the OCI profile", () => {
  const profile = ociSeccompProfile();
  /** Values that some rule names, their neighbours, single bits, and all of them under a filled high half. */
  const values = [
    0, 1, 2, 3, 5, 6, 8, 9, 10, 16, 17, 26, 31, 34, 35, 38, 40, 41, 44, 50, 51, 52, 58, 100, 136, 262, 270, 0x9ed,
    0xdff, 0x2000, 0x6000, 0x81a4, 0xc000, 0x5412, 0x541c, 0x2_0008, 0x4008_6602,
  ]
    .concat(
      Array.from({ length: 32 }, (_, bit) => 2 ** bit),
      [0xffff_ffff, 0x801c_5820],
    )
    .map(BigInt)
    .flatMap((value) => [value, high | value]);
  /** For calls that depend on three arguments: families, types and protocols of sockets. */
  const fewerValues = [0, 1, 2, 3, 5, 6, 9, 10, 16, 17, 40, 58, 136, 262, 0x800, 0x8_0801]
    .map(BigInt)
    .flatMap((value) => [value, high | value]);

  const rulesByName = Map.groupBy(
    profile.syscalls.flatMap((rule) => rule.names.map((name) => ({ name, rule }))),
    ({ name }) => name,
  );

  function ociVerdict(name: string, args: readonly bigint[]): string {
    const matching = (rulesByName.get(name) ?? []).filter(({ rule }) =>
      rule.args.every(({ index, value, valueTwo }) => ((args[index] ?? 0n) & BigInt(value)) === BigInt(valueTwo)),
    );
    if (matching.length > 1) throw new Error(`${name} matches ${matching.length} rules`);
    const rule = matching[0]?.rule;
    if (rule?.action === "SCMP_ACT_ALLOW") return "allow";
    return `errno ${rule?.errnoRet ?? profile.defaultErrnoRet}`;
  }

  it.each(architectures)("give the same answer to every call on %s", (architecture) => {
    let compared = 0;
    for (const [name, number] of syscallNumbers(architecture)) {
      const tested = new Set(rulesByName.get(name)?.flatMap(({ rule }) => rule.args.map(({ index }) => index)));
      const tried = tested.size > 2 ? fewerValues : values;
      const [firsts = [], seconds = [], thirds = [], fourths = []] = [0, 1, 2, 3].map((index) =>
        tested.has(index) ? tried : [0n],
      );
      for (const first of firsts) {
        for (const second of seconds) {
          for (const third of thirds) {
            for (const fourth of fourths) {
              const args = [first, second, third, fourth];
              const answer = interpret(filters[architecture], auditArchitecture[architecture], number, args)[0];
              if (answer !== ociVerdict(name, args)) {
                throw new Error(`${name}(${args.join()}): filter ${answer}, profile ${ociVerdict(name, args)}`);
              }
              compared += 1;
            }
          }
        }
      }
    }
    expect(compared).toBeGreaterThan(80_000);
  });
});

const returnZero = { code: 0x06, jumpTrue: 0, jumpFalse: 0, operand: 0 };

describe("encodeBpf", () => {
  it("lays an instruction out as the kernel's struct, little endian", () => {
    const bytes = encodeBpf([{ code: 0x15, jumpTrue: 2, jumpFalse: 255, operand: 0xc000_003e }]);
    expect([...bytes]).toEqual([0x15, 0, 2, 255, 0x3e, 0, 0, 0xc0]);
  });

  it("refuses a jump that eight bits cannot hold", () => {
    expect(() => encodeBpf([{ ...returnZero, jumpTrue: 256 }])).toThrow(RangeError);
    expect(() => encodeBpf([{ ...returnZero, jumpFalse: 256 }])).toThrow(RangeError);
  });

  it("takes as many instructions as the kernel does and no more", () => {
    const most = Array.from({ length: 4096 }, () => returnZero);
    expect(encodeBpf(most)).toHaveLength(8 * 4096);
    expect(() => encodeBpf([...most, returnZero])).toThrow("expected at most 4096 instructions, got 4097");
  });
});
