import type { Settings } from "../../src/index.ts";

/** Whether a run's sandbox was made before anybody asked for it. */
export type Warmth = "cold" | "warm";

/** How each is asked for: by settings of the library, which are keys of the configuration file too. */
export const warmthSettings: Partial<Readonly<Record<Warmth, Settings>>> = { cold: {} };

/** Those that this version knows. */
export const warmths = Object.keys(warmthSettings) as readonly Warmth[];
