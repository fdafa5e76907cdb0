import { environmentTable } from "../../src/config/layers/environment-table.ts";
import type { Settings } from "../../src/index.ts";

/** Whether a run's sandbox was made before anybody asked for it. */
export type Warmth = "cold" | "warm";

/** Versions without a pool of warm sandboxes are measured cold only. */
const hasPool = Object.values(environmentTable).some(({ key }) => key === "warm_pool.mode");

/** How each is asked for: by settings of the library, which are keys of the configuration file too. */
export const warmthSettings: Partial<Readonly<Record<Warmth, Settings>>> = hasPool
  ? ({ cold: { warm_pool: { mode: "off" } }, warm: { warm_pool: { mode: "on", min: 1 } } } as object)
  : { cold: {} };

/** Those that this version knows. */
export const warmths = Object.keys(warmthSettings) as readonly Warmth[];
