import { attacksOf, contained, open, type Attack } from "./attack.ts";

const ownProcess = "gVisor shows it; it is Glovebox's own, which holds no secret";

/** Other processes, and what they reveal about the host. */
export const processAttacks: readonly Attack[] = attacksOf({
  group: "Processes and variables",
  control: "unsealedAlone",
  attacks: {
    "signals-first-process": "end the sandbox's first process",
    "traces-first-process": "trace the first process",
    "reads-memory-of-first-process": "read the first process's memory",
    "reads-memory-map-of-first-process": "read its memory map",
    "reads-environment-of-first-process": "read its environment",
    "leaves-by-root-of-first-process": "leave by its root folder",
    "opens-files-of-first-process": "open its open files",
    "enters-namespace-of-first-process": "enter its mounts",
    "enters-network-of-first-process": "enter its network",
    "lists-processes-of-the-host": "find a process of the host",
    "finds-process-of-the-host-by-number": "find one by its number, unlisted",
    "reads-variables-of-the-host": "find a secret of Glovebox's own environment in any process",
    "inherits-variables-of-the-host": "find it among its own variables",
    "uses-inherited-descriptor": "leave by a folder that was left open",
    "connects-to-abstract-socket": "connect to an abstract socket of the host",
    "attaches-shared-memory-of-the-host": "attach shared memory of the host",
  },
  controls: {
    "lists-processes-of-the-host": "unsealed",
    "finds-process-of-the-host-by-number": "unsealed",
    "reads-variables-of-the-host": "unsealed",
    "inherits-variables-of-the-host": "hostProcess",
    "uses-inherited-descriptor": "hostProcess",
    "connects-to-abstract-socket": "unsealed",
    "attaches-shared-memory-of-the-host": "unsealed",
  },
  exceptions: {
    "reads-memory-map-of-first-process": { runsc: open(ownProcess) },
    "reads-environment-of-first-process": { runsc: open(ownProcess) },
  },
  whereShared: {
    "signals-first-process": contained("it belongs to the program's own user; if it ends, only its own sandbox does"),
  },
});
