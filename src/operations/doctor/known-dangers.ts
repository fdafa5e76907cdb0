import { engineDangers } from "./engine-dangers.ts";
import type { KnownDanger } from "./known-danger.ts";
import { nodeDangers } from "./node-dangers.ts";
import { runtimeDangers } from "./runtime-dangers.ts";

/**
 * Faults by which a sandbox, or an image that one is made of, can get out or past a wall, and how far they reach.
 *
 * Of faults that the same upgrade removes the lesser ones are left out. The kernel is not in here: distributions fix it
 * without any number that tells. Checked in November 2026.
 */
export const knownDangers: readonly KnownDanger[] = [...nodeDangers, ...runtimeDangers, ...engineDangers];
