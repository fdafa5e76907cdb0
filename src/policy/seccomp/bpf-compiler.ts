import { type BpfInstruction, encodeBpf } from "./bpf-instruction.ts";
import { errnoNumbers } from "./errno-numbers.ts";
import { seccompPolicy } from "./seccomp-policy.ts";
import { type SyscallArchitecture, syscallNumbers } from "./syscall-numbers.ts";
import type { ArgumentChoice, SyscallErrno, SyscallRule } from "./syscall-rule.ts";

/** Classic BPF operation codes, from linux/bpf_common.h. */
const operation = { loadWord: 0x20, and: 0x54, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, return: 0x06 };

/** Offsets in `struct seccomp_data`; an argument takes 8 bytes, its low half first. */
const offset = { number: 0, architecture: 4, arguments: 16 };

/** SECCOMP_RET_ALLOW and SECCOMP_RET_ERRNO; the latter carries the errno in its low 16 bits. */
const verdict = { allow: 0x7fff_0000, errno: 0x0005_0000 };

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64, from linux/audit.h. */
const auditArchitecture: Readonly<Record<SyscallArchitecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** A program that ends in a return on every path, so that two can stand one after the other. */
type Program = readonly BpfInstruction[];

/**
 * The filter as an array of `struct sock_filter`, for bubblewrap's `--seccomp`: that of programs, which set no setuid bit.
 *
 * A call that is refused returns EPERM or what its rule says; a number that we do not know (a newer kernel's, or x32's,
 * which are above all others) and every call by another architecture's convention (32-bit programs) return ENOSYS.
 */
export function compileSeccompFilter(architecture: SyscallArchitecture): Uint8Array {
  return encodeBpf([
    load(offset.architecture),
    ...choose(operation.jumpIfEqual, auditArchitecture[architecture], refuse("ENOSYS"), [
      load(offset.number),
      ...dispatch(rulesByNumber(architecture)),
    ]),
  ]);
}

/** A rule that holds from a number up to the next entry's. */
interface NumberRange {
  readonly first: number;
  readonly rule: SyscallRule;
}

function rulesByNumber(architecture: SyscallArchitecture): readonly NumberRange[] {
  const policy = seccompPolicy({ setuidBits: false });
  const ranges: NumberRange[] = [];
  let next = 0;
  const append = (rule: SyscallRule): void => {
    if (ranges.at(-1)?.rule !== rule) ranges.push({ first: next, rule });
  };
  for (const [name, number] of syscallNumbers(architecture)) {
    if (number > next) append("ENOSYS");
    next = number;
    append(policy.get(name) ?? "EPERM");
    next += 1;
  }
  append("ENOSYS");
  return ranges;
}

/** Binary search for the number in the accumulator. */
function dispatch(ranges: readonly NumberRange[]): Program {
  const half = Math.floor(ranges.length / 2);
  const [middle] = ranges.slice(half);
  if (middle === undefined) throw new RangeError("expected at least one range of numbers");
  if (half === 0) return apply(middle.rule);
  return choose(operation.jumpIfAtLeast, middle.first, dispatch(ranges.slice(0, half)), dispatch(ranges.slice(half)));
}

function apply(rule: SyscallRule): Program {
  if (rule === "allow") return [instruction(operation.return, verdict.allow)];
  return typeof rule === "string" ? refuse(rule) : applyChoice(rule);
}

function refuse(errno: SyscallErrno): Program {
  return [instruction(operation.return, verdict.errno | errnoNumbers[errno])];
}

function applyChoice({ argument, mask, cases, otherwise }: ArgumentChoice): Program {
  const branches = cases
    .flatMap(({ values, rule }) => values.map((value) => ({ value, rule })))
    .reduceRight((rest, { value, rule }) => choose(operation.jumpIfEqual, value, rest, apply(rule)), apply(otherwise));
  const keep = mask === undefined ? [] : [instruction(operation.and, mask)];
  return [load(offset.arguments + 8 * argument), ...keep, ...branches];
}

function choose(code: number, operand: number, whenFalse: Program, whenTrue: Program): Program {
  return [{ code, operand, jumpTrue: whenFalse.length, jumpFalse: 0 }, ...whenFalse, ...whenTrue];
}

function load(at: number): BpfInstruction {
  return instruction(operation.loadWord, at);
}

function instruction(code: number, operand: number): BpfInstruction {
  return { code, jumpTrue: 0, jumpFalse: 0, operand };
}
