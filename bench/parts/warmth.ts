import type { Settings } from "../../src/index.ts";

/** Whether a run's sandbox was made before anybody asked for it. */
export const warmths = ["cold", "warm"] as const;
export type Warmth = (typeof warmths)[number];

/** How each is asked for: by settings of the library, which are keys of the configuration file too. */
export const warmthSettings: Readonly<Record<Warmth, Settings>> = {
  cold: { warm_pool: { mode: "off" } },
  warm: { warm_pool: { mode: "on", min: 1 } },
};
