import {
  errnoNumbers,
  syscallNumbers,
  type SyscallArchitecture,
  type ArgumentChoice,
  type SyscallErrno,
  type SyscallRule,
} from "./syscalls.ts";
import { seccompPolicy, type SeccompOptions } from "./seccomp-policy.ts";

/** Classic BPF operation codes, from linux/bpf_common.h. */
const operation = { loadWord: 0x20, and: 0x54, jump: 0x05, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, return: 0x06 };

/** A conditional jump has 8 bits for its distance. */
const maxConditionalJump = 255;

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
  return assemblePolicy(architecture, { setuidBits: false }, new Map());
}

/**
 * The whole policy as an array of `struct sock_filter`, with rules of their own for some of the numbers that it allows, or does not know.
 * @throws RangeError for a number about which the policy has conditions
 */
export function assemblePolicy(
  architecture: SyscallArchitecture,
  options: SeccompOptions,
  rules: ReadonlyMap<number, FilterRule>,
): Uint8Array {
  const policy = seccompPolicy(options);
  const all = new Map(rules);
  for (const [name, number] of syscallNumbers(architecture)) {
    const rule = policy.get(name) ?? "EPERM";
    if (rule === "allow" && rules.has(number)) continue;
    if (typeof rule === "object" && rules.has(number)) throw new RangeError(`${name} has a rule already`);
    all.set(number, rule);
  }
  return assemble(architecture, withoutOthers(all));
}

/** A rule of a filter: as a system call's, or a refusal with a number that no call has by itself. */
export type FilterRule = SyscallRule | { readonly errno: number };

/** Numbers of x32, which is the same architecture by the name of its convention: a few old ones, and all above a bit. */
const x32Numbers = { first: 512, end: 548, bit: 0x4000_0000 };

/**
 * A filter, as an array of `struct sock_filter`, that applies a rule to some numbers and allows the others of this architecture;
 * those of x32, and every call by another architecture's convention, return ENOSYS.
 */
export function assembleFilter(architecture: SyscallArchitecture, rules: ReadonlyMap<number, FilterRule>): Uint8Array {
  const x32: readonly NumberRange[] =
    architecture === "x64"
      ? [
          { first: x32Numbers.first, rule: "ENOSYS" },
          { first: x32Numbers.end, rule: "allow" },
        ]
      : [];
  const ruled = [...rules].flatMap(([number, rule]): readonly NumberRange[] => [
    { first: number, rule },
    ...(rules.has(number + 1) ? [] : [{ first: number + 1, rule: "allow" as const }]),
  ]);
  const rest: readonly NumberRange[] = [
    ...(rules.has(0) ? [] : [{ first: 0, rule: "allow" as const }]),
    ...x32,
    { first: x32Numbers.bit, rule: "ENOSYS" },
  ];
  return assemble(
    architecture,
    [...ruled, ...rest].toSorted((one, other) => one.first - other.first),
  );
}

function assemble(architecture: SyscallArchitecture, ranges: readonly NumberRange[]): Uint8Array {
  return encodeBpf([
    load(offset.architecture),
    ...choose(operation.jumpIfEqual, auditArchitecture[architecture], refuse("ENOSYS"), [
      load(offset.number),
      ...dispatch(ranges),
    ]),
  ]);
}

/** A rule that holds from a number up to the next entry's. */
interface NumberRange {
  readonly first: number;
  readonly rule: FilterRule;
}

/** Numbers without a rule are ENOSYS. */
function withoutOthers(rules: ReadonlyMap<number, FilterRule>): readonly NumberRange[] {
  const ranges: NumberRange[] = [];
  let next = 0;
  const append = (rule: FilterRule): void => {
    if (ranges.at(-1)?.rule !== rule) ranges.push({ first: next, rule });
  };
  for (const [number, rule] of [...rules].toSorted(([one], [other]) => one - other)) {
    if (number > next) append("ENOSYS");
    next = number;
    append(rule);
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

function apply(rule: FilterRule): Program {
  if (rule === "allow") return [instruction(operation.return, verdict.allow)];
  if (typeof rule === "string") return refuse(rule);
  return "errno" in rule ? [instruction(operation.return, verdict.errno | rule.errno)] : applyChoice(rule);
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
  const skipped = whenFalse.length;
  const test: Program =
    skipped > maxConditionalJump
      ? [{ code, operand, jumpTrue: 0, jumpFalse: 1 }, instruction(operation.jump, skipped)]
      : [{ code, operand, jumpTrue: skipped, jumpFalse: 0 }];
  return [...test, ...whenFalse, ...whenTrue];
}

function load(at: number): BpfInstruction {
  return instruction(operation.loadWord, at);
}

function instruction(code: number, operand: number): BpfInstruction {
  return { code, jumpTrue: 0, jumpFalse: 0, operand };
}

/** One `struct sock_filter` of classic BPF; jumps count the instructions that are skipped, at most 255. */
interface BpfInstruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  /** Unsigned 32 bits. */
  readonly operand: number;
}

/** Size of one encoded instruction. */
const instructionBytes = 8;

/** Linux's BPF_MAXINSNS. */
const maximumInstructions = 4096;

/** Little endian, as both architectures read it. Throws a RangeError for what the kernel would not take. */
export function encodeBpf(instructions: readonly BpfInstruction[]): Uint8Array {
  if (instructions.length > maximumInstructions) {
    throw new RangeError(`expected at most ${maximumInstructions} instructions, got ${instructions.length}`);
  }
  const bytes = new Uint8Array(instructions.length * instructionBytes);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, jumpTrue, jumpFalse, operand }] of instructions.entries()) {
    if (jumpTrue > 255 || jumpFalse > 255) {
      throw new RangeError(`expected jumps of at most 255, got ${jumpTrue} and ${jumpFalse} at instruction ${index}`);
    }
    const offset = index * instructionBytes;
    view.setUint16(offset, code, true);
    view.setUint8(offset + 2, jumpTrue);
    view.setUint8(offset + 3, jumpFalse);
    view.setUint32(offset + 4, operand, true);
  }
  return bytes;
}
