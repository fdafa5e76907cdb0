import type { Sabotage } from "./sabotage.ts";

export const lifetimesSabotages: readonly Sabotage[] = [];
