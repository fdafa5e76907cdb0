import { limitFieldNames } from "../policy/limit-fields.ts";
import { limitKinds } from "../policy/limits.ts";

/** One configured limit, and what bounds it, both in the same unit. */
interface BoundedKey {
  readonly key: string;
  readonly ceilingKey: string;
  /** How many of the key's units make one of the ceiling's. */
  readonly factor: number;
}

const boundedKeys: readonly BoundedKey[] = limitKinds.flatMap((kind) =>
  limitFieldNames.map((field) =>
    kind === "agent" && field === "timeout_seconds"
      ? { key: "container_timeout_ms", ceilingKey: `ceilings.${field}`, factor: 1000 }
      : { key: `limits.${kind}.${field}`, ceilingKey: `ceilings.${field}`, factor: 1 },
  ),
);

/** The settings, with defaults lowered to their ceilings, and what is wrong with limits that were set explicitly. */
export interface BoundedSettings {
  readonly settings: ReadonlyMap<string, unknown>;
  readonly problems: readonly string[];
}

/**
 * Compares the limits with the ceilings: a default is lowered to a lower ceiling, a limit that was set is not.
 *
 * `placeOf` says where a key was set; null: it has its default.
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
