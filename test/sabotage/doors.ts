import type { Sabotage } from "./sabotage.ts";

export const doorsSabotages: readonly Sabotage[] = [];
