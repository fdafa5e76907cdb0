import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

const { "user-shares.limits": _, ...exceptions } = subjects.local.exceptions;

const { helperUser: _helpers, ...declared } = subjects.local.mustDeclare;

const onlyOneUser = "the programs of all containers are the user's own, and what the user has is theirs together";

/** The embedded engine of a user who cannot create control groups, like most ordinary users. */
export const ordinaryUserSubject: Subject = {
  ...subjects.local,
  name: "local, as an ordinary user",
  mustDeclare: {
    ...declared,
    supervisor: "shared",
    memoryLimit: {
      substitute: "a check every 50 ms that kills the program if its processes together use more",
    },
    cpuLimit: "no",
    cpuReporting: false,
    pidsLimit: { substitute: "a limit for the user of its programs (rlimit) instead of a control group" },
  },
  exceptions: {
    ...exceptions,
    "user-shares.watch": onlyOneUser,
    "user-shares.descriptor": onlyOneUser,
    "user-shares.pipe": onlyOneUser,
    "limits.sockets": "without control groups nothing counts the memory of sockets",
    "memory.child": "the watch ends a program with all that it started",
  },
  untried: { "memory.child": "where a user can make control groups, it holds" },
};
