import { kibibyte } from "../base/bytes.ts";

/** One limit of a process on what its user has together, by the name that `prlimit`, Docker and Podman have for it. */
export interface UserLimit {
  readonly name: "sigpending" | "msgqueue" | "memlock";
  /** As /proc/PID/limits names it. */
  readonly title: string;
  readonly value: number;
}

/**
 * What the kernel compares with the use of all programs of a user, also outside the sandbox: low enough that a project's
 * owner, on whose behalf programs run, keeps most of what the system gives each user (Linux: a pending signal for each 256
 * KiB of the machine's memory, 800 KiB of queues, 64 KiB or more of locked memory).
 *
 * Enough for three POSIX queues of the default size, and for a timer of each of a program's threads, as Go's profiler and
 * Ruby take them.
 */
export const userLimits: readonly UserLimit[] = [
  { name: "sigpending", title: "Max pending signals", value: 1_024 },
  { name: "msgqueue", title: "Max msgqueue size", value: 256 * kibibyte },
  { name: "memlock", title: "Max locked memory", value: 64 * kibibyte },
];

/** The limits as far as a process may set them whose own are these, by the text of /proc/PID/limits: nobody may raise one. */
export function userLimitsBelow(limits: string): readonly UserLimit[] {
  return userLimits.map((limit) => {
    const hard = new RegExp(`^${limit.title} +\\S+ +(\\d+)`, "m").exec(limits)?.[1];
    return hard === undefined ? limit : { ...limit, value: Math.min(limit.value, Number(hard)) };
  });
}
