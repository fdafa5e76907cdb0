import type { Config } from "../config/config.ts";
import type { WarmPoolBounds } from "../sandbox/pool/warm-pool.ts";
import type { Door } from "./engine-chooser.ts";

/** Whose sandboxes may wait. */
export interface WarmDoor {
  readonly config: Pick<Config, "warmPool">;
  readonly door: Door;
  /** As in `PlatformOptions`. */
  readonly keepsWarm?: boolean | undefined;
}

/** What a door's warm sandboxes are bounded by; null: it has none. */
export function warmPoolBounds({ config, door, keepsWarm = true }: WarmDoor): WarmPoolBounds | null {
  const { mode, min, max, ...rest } = config.warmPool;
  const isOn = mode === "on" || (mode === "auto" && door !== "person");
  if (!isOn || !keepsWarm || max === 0) return null;
  return { ...rest, max, min: Math.min(max, min ?? (door === "server" ? 1 : 0)) };
}
