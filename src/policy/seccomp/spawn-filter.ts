import { assembleFilter, assemblePolicy, type FilterRule } from "./bpf-compiler.ts";
import { errnoNumbers, syscallNumbers, type SyscallArchitecture, type SyscallRule } from "./syscalls.ts";
import type { SeccompOptions } from "./seccomp-policy.ts";

/** Number of the process that must not be touched: the supervisor is the first of its sandbox. */
const firstProcess = 1;

/** `which` of setpriority, from linux/resource.h. */
const priorityOf = { process: 0, group: 1, user: 2 };

/** `which` of ioprio_set, from linux/ioprio.h. */
const diskPriorityOf = { process: 1, group: 2, user: 3 };

const notFirstProcess: SyscallRule = {
  argument: 0,
  cases: [{ values: [firstProcess], rule: "EPERM" }],
  otherwise: "allow",
};

/** A change of priority: of a process or group but the first, and of no user, which would include the supervisor. */
const priorityRule = (which: typeof priorityOf): SyscallRule => {
  const notFirst: SyscallRule = { ...notFirstProcess, argument: 1 };
  return {
    argument: 0,
    cases: [
      { values: [which.process, which.group], rule: notFirst },
      { values: [which.user], rule: "EPERM" },
    ],
    otherwise: "EINVAL",
  };
};

/** What a program could do to the supervisor by its number. What is not here is allowed: other filters decide about it. */
const rules: Readonly<Record<string, SyscallRule>> = {
  prlimit64: notFirstProcess,
  sched_setparam: notFirstProcess,
  sched_setscheduler: notFirstProcess,
  sched_setaffinity: notFirstProcess,
  sched_setattr: notFirstProcess,
  setpriority: priorityRule(priorityOf),
  ioprio_set: priorityRule(diskPriorityOf),
  // Moves memory of others, and needs nothing but a number; programs of one node have no use for it.
  move_pages: "EPERM",
  migrate_pages: "EPERM",
};

/** Numbers that no kernel gives to a call: x86-64 keeps 387 to 423 unused, arm64 has none between 295 and 402. */
const canaryCalls = [400, 401] as const;

/** The first of the numbers that they answer with, by which a supervisor shows which filter is in force. */
function firstErrno(policy: SeccompOptions | undefined): number {
  if (policy === undefined) return 3001;
  return policy.setuidBits ? 3021 : 3011;
}

/** A call by which a supervisor shows that the filter is in force. */
interface FilterProbe {
  readonly call: number;
  /** What it answers with zeros for arguments. */
  readonly errno: number;
}

/** A filter for each program that a supervisor starts. */
export interface SpawnFilter {
  /** An array of `struct sock_filter`. */
  readonly program: Uint8Array;
  /** The first two are numbers without a call, whose errno only this filter gives; the third is a call that it refuses. */
  readonly probes: readonly [FilterProbe, FilterProbe, FilterProbe];
}

/**
 * The filter that a supervisor installs in each program that it starts, whatever user that has: where programs are the
 * supervisor's user nothing else keeps them from changing its limits, its processors and its priority (SPEC SC2, SV3).
 *
 * It knows numbers of processes, not processes: it is for programs that share the supervisor's process numbers. A call by
 * another architecture's convention, and of x32, is ENOSYS.
 *
 * With a policy it refuses all that the policy does, too: everywhere but where another filter of ours or another kernel
 * stands around the whole sandbox.
 */
export function spawnFilter(architecture: SyscallArchitecture, policy?: SeccompOptions): SpawnFilter {
  const key = `${architecture} ${policy?.setuidBits}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const made = compile(architecture, policy);
  compiled.set(key, made);
  return made;
}

/** They never change, and every sandbox has one. */
const compiled = new Map<string, SpawnFilter>();

function compile(architecture: SyscallArchitecture, policy: SeccompOptions | undefined): SpawnFilter {
  const numbers = syscallNumbers(architecture);
  const byNumber = new Map<number, FilterRule>();
  for (const [name, rule] of Object.entries(rules)) {
    const number = numbers.get(name);
    if (number === undefined) throw new RangeError(`${name} is no call of ${architecture}`);
    byNumber.set(number, rule);
  }
  const errno = firstErrno(policy);
  const canaries = [
    { call: canaryCalls[0], errno },
    { call: canaryCalls[1], errno: errno + 1 },
  ] as const;
  for (const canary of canaries) byNumber.set(canary.call, { errno: canary.errno });
  const refused = { call: numbers.get("migrate_pages") ?? 0, errno: errnoNumbers.EPERM };
  const program =
    policy === undefined ? assembleFilter(architecture, byNumber) : assemblePolicy(architecture, policy, byNumber);
  return { program, probes: [...canaries, refused] };
}
