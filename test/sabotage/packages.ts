import type { Sabotage } from "./sabotage.ts";

export const packagesSabotages: readonly Sabotage[] = [];
