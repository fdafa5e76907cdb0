import type { Sabotage } from "./sabotage.ts";

export const localSabotages: readonly Sabotage[] = [];
