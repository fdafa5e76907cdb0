import { limitFieldNames } from "../policy/limits/limit-fields.ts";
import { limitKinds } from "../policy/limits/limits.ts";

/** One configured limit, and what bounds it, both in the same unit. */
interface BoundedKey {
  readonly key: string;
  readonly ceilingKey: string;
  /** How many of the key's units are one of the ceiling's. */
  readonly factor: number;
}

const boundedKeys: readonly BoundedKey[] = limitKinds.flatMap((kind) =>
  limitFieldNames.map((field) =>
    kind === "agent" && field === "timeout_seconds"
      ? { key: "container_timeout_ms", ceilingKey: `ceilings.${field}`, factor: 1000 }
      : { key: `limits.${kind}.${field}`, ceilingKey: `ceilings.${field}`, factor: 1 },
  ),
);

/** The settings with each limit that nobody set brought down to its ceiling, and what is wrong with those somebody set. */
export interface BoundedSettings {
  readonly settings: ReadonlyMap<string, unknown>;
  readonly problems: readonly string[];
}

/**
 * Holds the limits against the ceilings: a default gives way to a lower ceiling, a limit that was set does not.
 *
 * `placeOf` tells where a key was set, null for a default.
 */
export function boundByCeilings(
  settings: ReadonlyMap<string, unknown>,
  placeOf: (key: string) => string | null,
): BoundedSettings {
  const bounded = new Map(settings);
  const problems: string[] = [];
  for (const { key, ceilingKey, factor } of boundedKeys) {
    const value = Number(settings.get(key));
    const ceiling = Number(settings.get(ceilingKey)) * factor;
    if (value <= ceiling) continue;
    const place = placeOf(key);
    if (place === null) bounded.set(key, ceiling);
    else problems.push(`${key} (${place}): expected at most ${ceiling}, the ceiling of ${ceilingKey}, got ${value}`);
  }
  return { settings: bounded, problems };
}
