import type { Sabotage } from "./sabotage.ts";

export const preloadSabotages: readonly Sabotage[] = [];
