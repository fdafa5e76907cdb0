import type { Sabotage } from "./sabotage.ts";

export const mountsSabotages: readonly Sabotage[] = [];
