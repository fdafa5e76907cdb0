import type { Settings } from "../../src/index.ts";

/** Whether a run's sandbox was made before it was requested. */
export const warmths = ["cold", "warm"] as const;
export type Warmth = (typeof warmths)[number];

/** How to ask for each: by settings of the library, which are also keys of the configuration file. */
export const warmthSettings: Readonly<Record<Warmth, Settings>> = {
  cold: { warm_pool: { mode: "off" } },
  warm: { warm_pool: { mode: "on", min: 1 } },
};
