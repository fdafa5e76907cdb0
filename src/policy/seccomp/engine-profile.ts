import { newNamespaceFlags, seccompPolicy } from "./seccomp-policy.ts";
import { errnoNumbers, syscallNumbers, type SyscallErrno, type SyscallRule } from "./syscalls.ts";

/**
 * Calls that reach furthest into the kernel or into other processes, and that neither programs nor the supervisor need.
 * All of them are refused by the policy, too.
 */
const refused = {
  "other processes": "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp",
  mounts: `mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr open_by_handle_at
    name_to_handle_at quotactl quotactl_fd swapon swapoff`,
  namespaces: "unshare setns",
  keys: "add_key request_key keyctl",
  "code in the kernel": `bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register init_module
    finit_module delete_module kexec_load kexec_file_load`,
  "the machine":
    "clock_settime clock_adjtime settimeofday adjtimex reboot acct syslog fanotify_init iopl ioperm modify_ldt",
} as const;

/** Each bit of a set. */
function bitsOf(mask: number): readonly number[] {
  return Array.from({ length: 32 }, (_, index) => 2 ** index).filter((bit) => (mask & bit) !== 0);
}

/**
 * The profile for the `seccomp=` security option of an engine, in place of the engine's own: JSON text for Docker, a file for
 * Podman. It is the second wall: the whole policy is in the filter that the supervisor installs in each program.
 *
 * Short, since each rule costs time when a container starts: with the policy's some 350 names a start took 30 to 60 ms longer
 * (runc 1.1 with libseccomp 2.5, of some 350 ms). 32-bit conventions are listed because an engine kills whoever uses one that is not.
 */
export function engineSeccompProfile(): OciSeccompProfile {
  const names = Object.values(refused).flatMap((text) => text.trim().split(/\s+/));
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    archMap: architectures,
    syscalls: [
      { names, action: "SCMP_ACT_ERRNO", errnoRet: errnoNumbers.EPERM, args: [] },
      // Its flags are behind a pointer; libc then uses `clone`.
      { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: errnoNumbers.ENOSYS, args: [] },
      ...bitsOf(newNamespaceFlags).map((bit) => ({
        names: ["clone"],
        action: "SCMP_ACT_ERRNO" as const,
        errnoRet: errnoNumbers.EPERM,
        args: [{ index: 0, op: "SCMP_CMP_MASKED_EQ" as const, value: bit, valueTwo: bit }],
      })),
    ],
  };
}

/** The part of Docker's profile format that we use; Podman reads the same. */
interface OciSeccompProfile {
  readonly defaultAction: "SCMP_ACT_ERRNO" | "SCMP_ACT_ALLOW";
  /** Docker 20.10 does not know it and stays with EPERM. */
  readonly defaultErrnoRet?: number;
  readonly archMap: readonly { readonly architecture: string; readonly subArchitectures: readonly string[] }[];
  readonly syscalls: readonly OciSyscallRule[];
}

interface OciSyscallRule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly errnoRet?: number;
  /** All must hold, each on another argument; empty: always. */
  readonly args: readonly OciArgumentTest[];
}

/** Holds if the argument's bits under `value`, the mask, equal `valueTwo`. */
interface OciArgumentTest {
  readonly index: number;
  readonly op: "SCMP_CMP_MASKED_EQ";
  readonly value: number;
  readonly valueTwo: number;
}

/** What calls newer than our table return: libc then does without. */
const defaultErrno: SyscallErrno = "ENOSYS";

/**
 * Calls of 32-bit x86 that stand for many others. libseccomp widens each rule for `socket` to `socketcall`, where the
 * address family is out of sight; an unconditional rule for `socketcall`, standing first, prevails. Runtimes skip a rule
 * that equals the default, and the default is ENOSYS or EPERM, hence EINVAL.
 */
const multiplexers: OciSyscallRule = {
  names: ["socketcall", "ipc"],
  action: "SCMP_ACT_ERRNO",
  errnoRet: errnoNumbers.EINVAL,
  args: [],
};

/**
 * 32-bit x86 has a `mmap` of its own, whose arguments stand behind a pointer, where no filter sees a request for huge
 * pages. A rule that tests a bit of an argument's high half holds always on a 32-bit convention, which has no such half,
 * and, standing first, prevails there; elsewhere it refuses mappings of 4 PiB and more, which no machine has room for.
 */
const oldMapping: OciSyscallRule = {
  names: ["mmap"],
  action: "SCMP_ACT_ERRNO",
  errnoRet: errnoNumbers.EINVAL,
  args: [{ index: 1, op: "SCMP_CMP_MASKED_EQ", value: 2 ** 52, valueTwo: 2 ** 52 }],
};

/** With the conventions of 32 bits: an engine kills whoever uses one that is not listed. */
const architectures: OciSeccompProfile["archMap"] = [
  { architecture: "SCMP_ARCH_X86_64", subArchitectures: ["SCMP_ARCH_X86", "SCMP_ARCH_X32"] },
  { architecture: "SCMP_ARCH_AARCH64", subArchitectures: ["SCMP_ARCH_ARM"] },
];

/**
 * The whole policy for the `seccomp=` security option of the server's own container.
 *
 * Rules of one call never overlap, so their order does not matter. Each masks its argument to 32 bits or fewer, so the
 * high half, which the kernel drops, cannot hide a value. As the spellings of 32-bit conventions (`mmap2`, `socketcall`) are
 * refused, no ordinary 32-bit program runs.
 */
export function ociSeccompProfile(): OciSeccompProfile {
  const policy = seccompPolicy({ setuidBits: false });
  const known = new Set([...syscallNumbers("x64").keys(), ...syscallNumbers("arm64").keys()]);
  const namesByRule = Map.groupBy(known, (name): SyscallRule => policy.get(name) ?? "EPERM");
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: errnoNumbers[defaultErrno],
    archMap: architectures,
    syscalls: [multiplexers, oldMapping, ...[...namesByRule].flatMap(([rule, names]) => rulesFor(names, rule, []))],
  };
}

function rulesFor(names: readonly string[], rule: SyscallRule, args: readonly OciArgumentTest[]): OciSyscallRule[] {
  if (rule === "allow") return [{ names, action: "SCMP_ACT_ALLOW", args }];
  if (rule === defaultErrno && args.length > 0) return [];
  if (typeof rule === "string") return [{ names, action: "SCMP_ACT_ERRNO", errnoRet: errnoNumbers[rule], args }];
  const { argument, mask = 0xffff_ffff, cases, otherwise } = rule;
  const withPattern = (next: SyscallRule, { mask: bits, value }: BitPattern): OciSyscallRule[] =>
    rulesFor(names, next, [...args, { index: argument, op: "SCMP_CMP_MASKED_EQ", value: bits, valueTwo: value }]);
  const named = cases.flatMap(({ values }) => values);
  return [
    ...cases.flatMap((one) => one.values.flatMap((value) => withPattern(one.rule, { mask, value }))),
    ...patternsOutside(mask, named).flatMap((pattern) => withPattern(otherwise, pattern)),
  ];
}

/** Matches each number whose bits under `mask` equal `value`. Both are unsigned 32 bits. */
export interface BitPattern {
  readonly mask: number;
  readonly value: number;
}

/**
 * Disjoint patterns for the numbers whose bits under `mask` are none of `values`: what "not equal" is for a filter that
 * can only test one pattern a rule.
 *
 * Each costs an engine time at every start, so there are to be few: a bit in which all values agree takes one pattern
 * and leaves them together, so such bits come first, and values are parted where most of them follow.
 */
export function patternsOutside(mask: number, values: readonly number[]): readonly BitPattern[] {
  const patterns: BitPattern[] = [];
  const walk = (weights: readonly number[], prefix: BitPattern, inside: readonly number[]): void => {
    if (inside.length === 0) patterns.push(prefix);
    const [weight, ...others] = inside.length === 0 ? [] : bestFirst(weights, inside);
    if (weight === undefined) return;
    const longer = prefix.mask + weight;
    const [unset, set] = part(weight, inside);
    walk(others, { mask: longer, value: prefix.value }, unset);
    walk(others, { mask: longer, value: prefix.value + weight }, set);
  };
  const weights = Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((weight) => hasBit(mask, weight));
  walk(weights, { mask: 0, value: 0 }, values);
  return patterns;
}

/** The bits, as their weights, with the one first that is to be tested next. */
function bestFirst(weights: readonly number[], values: readonly number[]): readonly number[] {
  const rank = (weight: number): number => {
    const parts = part(weight, values).filter(({ length }) => length > 0);
    if (parts.length === 1) return Number.POSITIVE_INFINITY;
    return parts.reduce((sum, each) => sum + weights.filter((other) => agree(other, each)).length, 0);
  };
  return weights.toSorted((left, right) => rank(right) - rank(left));
}

function agree(weight: number, values: readonly number[]): boolean {
  return part(weight, values).some(({ length }) => length === 0);
}

/** The values without the bit, and those with it. */
function part(weight: number, values: readonly number[]): readonly [readonly number[], readonly number[]] {
  return [values.filter((value) => !hasBit(value, weight)), values.filter((value) => hasBit(value, weight))];
}

function hasBit(value: number, weight: number): boolean {
  return Math.floor(value / weight) % 2 === 1;
}
