import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

/** The embedded engine of a user who cannot create control groups, like most ordinary users. */
export const ordinaryUserSubject: Subject = {
  ...subjects.local,
  name: "local, as an ordinary user",
  mustDeclare: {
    ...subjects.local.mustDeclare,
    memoryLimit: {
      substitute: "a check every 50 ms that kills the program if its processes together use more",
    },
    cpuLimit: "no",
    cpuReporting: false,
    pidsLimit: { substitute: "a limit for each program (rlimit) instead of all programs together" },
  },
  exceptions: {
    ...subjects.local.exceptions,
    "memory.child": "the watch ends a program with all that it started",
  },
  untried: { "memory.child": "where a user can make control groups, it holds" },
};
