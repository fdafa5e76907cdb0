import type { Config } from "../config/config.ts";
import type { WarmPoolBounds } from "../sandbox/warm-pool.ts";
import type { Door } from "./engine-chooser.ts";

/** Front end whose sandboxes may be started ahead. */
export interface WarmDoor {
  readonly config: Pick<Config, "warmPool">;
  readonly door: Door;
  /** As in `PlatformOptions`. */
  readonly keepsWarm?: boolean | undefined;
}

/** The limits of a front end's warm sandboxes; null: it has none. */
export function warmPoolBounds({ config, door, keepsWarm = true }: WarmDoor): WarmPoolBounds | null {
  const { mode, min, max, ...rest } = config.warmPool;
  const isOn = mode === "on" || (mode === "auto" && door !== "person");
  if (!isOn || !keepsWarm || max === 0) return null;
  return { ...rest, max, min: Math.min(max, min ?? (door === "server" ? 1 : 0)) };
}
