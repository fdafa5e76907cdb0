import { attacksOf, type Attack } from "../../../src/workloads/proof/attack.ts";
import type { AttackRun } from "./run-attacks.ts";

/** Attacks of one sandbox on another of the same engine. */
export const neighbourAttacks: readonly Attack[] = attacksOf({
  group: "From sandbox to sandbox",
  control: "sharing",
  attacks: {
    "connects-to-neighbour": "connect to a server in another sandbox",
    "connects-to-neighbour-by-abstract-socket": "connect to its abstract socket",
    "joins-network-of-neighbour": "join its network by any process that it sees (setns)",
    "attaches-memory-of-neighbour": "attach its shared memory",
    "reads-queue-of-neighbour": "open its message queue",
    "reads-file-of-neighbour": "read its files in /tmp",
    "reads-shared-memory-file-of-neighbour": "read its files in /dev/shm",
    "finds-process-of-neighbour": "find its processes",
    "ends-process-of-neighbour": "end its processes",
    "reads-leavings-of-former-run": "read what the sandbox before left in /tmp",
    "watches-while-neighbour-hoards": "use up the file watchers (inotify) that others need",
  },
  controls: { "watches-while-neighbour-hoards": "ordinaryUser" },
});

const afterwards = "reads-leavings-of-former-run";
const hoarding = "watches-while-neighbour-hoards";

/** Runs while another sandbox is alive, after it has ended, and while one hoards. */
export const neighbourRuns: Readonly<Record<"beside" | "afterwards" | "hoarding", readonly AttackRun[]>> = {
  beside: neighbourAttacks.filter(({ id }) => id !== afterwards && id !== hoarding),
  afterwards: [{ id: afterwards, program: "reads-file-of-neighbour" }],
  hoarding: [{ id: hoarding }],
};
