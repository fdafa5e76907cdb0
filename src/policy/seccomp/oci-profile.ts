import { type BitPattern, patternsOutside } from "./bit-patterns.ts";
import { errnoNumbers } from "./errno-numbers.ts";
import { seccompPolicy } from "./seccomp-policy.ts";
import { syscallNumbers } from "./syscall-numbers.ts";
import type { SyscallErrno, SyscallRule } from "./syscall-rule.ts";

/** The part of Docker's profile format that we use; Podman reads the same. */
export interface OciSeccompProfile {
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
export const architectures: OciSeccompProfile["archMap"] = [
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
