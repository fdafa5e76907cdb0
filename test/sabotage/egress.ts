import type { Sabotage } from "./sabotage.ts";

export const egressSabotages: readonly Sabotage[] = [];
