import type { ConfigFlags } from "./layers/flag-layer.ts";

/** Nested values, by the names of the configuration file. */
export interface Settings {
  readonly [name: string]:
    | string
    | number
    | boolean
    | null
    | readonly string[]
    | readonly Settings[]
    | Settings
    | undefined;
}

/** Nested settings as dotted paths, the form in which the loader takes overrides; undefined ones are left out. */
export function settingsOverrides(settings: Settings, prefix = ""): ConfigFlags {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]): [string, unknown][] => {
      if (value === undefined) return [];
      if (isSection(value)) return Object.entries(settingsOverrides(value, `${prefix}${name}.`));
      return [[`${prefix}${name}`, value]];
    }),
  );
}

function isSection(value: Settings[string]): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
