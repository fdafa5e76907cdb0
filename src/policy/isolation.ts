/** How strongly a run was sealed, weakest first (SPEC RT5). */
export const isolationLevels = ["preload", "namespaces", "container", "vm"] as const;
export type Isolation = (typeof isolationLevels)[number];

/** Whether a level seals at least as strongly as the minimum. */
export function isAtLeast(level: Isolation, minimum: Isolation): boolean {
  return isolationLevels.indexOf(level) >= isolationLevels.indexOf(minimum);
}
