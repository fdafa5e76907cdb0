/** Shells that completion supports. */
export const completedShells = ["bash", "zsh", "fish"] as const;
export type CompletedShell = (typeof completedShells)[number];
