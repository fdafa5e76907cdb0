import { attacksOf, type Attack } from "../../../src/workloads/proof/attack.ts";

/** Attacks of one run on the next or the previous one, where an interpreter waits for its program. */
export const warmAttacks: readonly Attack[] = attacksOf({
  group: "From run to run, where sandboxes wait",
  control: "reusedWorker",
  attacks: {
    "keeps-input-of-runner": "keep the runner's input, to take the next run's job",
    "leaves-hook-for-next-run": "leave something in the interpreter or its folders for the next run",
    "answers-for-next-run": "forge the runner's failure, and answer in the next run's place",
    "reads-memory-of-former-run": "find what the run before was given in memory",
  },
});
