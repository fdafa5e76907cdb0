import { attacksOf, contained, open, type Attack } from "./attack.ts";

/** Users, capabilities and priorities. */
export const privilegeAttacks: readonly Attack[] = attacksOf({
  group: "Privileges",
  deniedBy: "noNewPrivileges",
  control: "unsealed",
  attacks: {
    "becomes-root": "become root",
    "joins-groups": "join the groups root and disk",
    "runs-setuid-program": "become root by a setuid program",
    "takes-capabilities": "take CAP_SYS_ADMIN",
    "finds-capabilities-left": "find a capability left in any of its sets",
    "gives-file-away": "give a file to another user",
    "makes-file-privileged": "make a program that starts with a capability",
    "keeps-setuid-in-scratch": "use setuid programs and devices in its writable folders",
    "favours-itself": "favour itself before other processes",
    "takes-real-time-priority": "take real-time priority",
    "locks-memory": "lock much memory",
  },
  controls: { "runs-setuid-program": "ordinaryUser", "takes-real-time-priority": "hostProcess" },
  deniedByOf: { "keeps-setuid-in-scratch": "setuidRefusal", "locks-memory": "memoryLimit" },
  exceptions: {
    "keeps-setuid-in-scratch": {
      runsc: contained("gVisor does not show such options; it starts no setuid programs"),
      kubernetes: open("pods mount such folders without these options; no-new-privileges and the filter deny the rest"),
    },
    "favours-itself": { runsc: contained("only among the programs of its own sandbox") },
  },
});
