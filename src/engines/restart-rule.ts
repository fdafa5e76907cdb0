/** When an engine that can be mended may be restarted: never, with no other sandbox live, or although others are. */
export const restartRules = ["never", "idle", "always"] as const;
export type RestartRule = (typeof restartRules)[number];
