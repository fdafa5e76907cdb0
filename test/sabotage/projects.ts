import type { Sabotage } from "./sabotage.ts";

export const projectsSabotages: readonly Sabotage[] = [];
