import type { Attack } from "./attack.ts";
import { fileAttacks } from "./file-attacks.ts";
import { kernelAttacks } from "./kernel-attacks.ts";
import { privilegeAttacks } from "./privilege-attacks.ts";
import { processAttacks } from "./process-attacks.ts";

/** Attacks of one program in one sandbox, which have the programs of their ids in `images/attacks`. */
export const programAttacks: readonly Attack[] = [
  ...kernelAttacks,
  ...privilegeAttacks,
  ...processAttacks,
  ...fileAttacks,
];
