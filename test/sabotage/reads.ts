import type { Sabotage } from "./sabotage.ts";

export const readsSabotages: readonly Sabotage[] = [];
