import type { ConfigSource, LoadedConfig } from "./config.ts";
import { variableOf } from "./layers/environment-layer.ts";
import { secretKeys } from "./secret-keys.ts";
import { settingsKeys } from "./layers/settings-keys.ts";

/** One key of the configuration, for documents and help. */
export interface ConfigKeyDescription {
  /** Dotted path in the file. */
  readonly key: string;
  /** Environment variable that sets it. */
  readonly variable: string | null;
  /** In the units of the file. */
  readonly default: unknown;
  readonly description: string;
}

/** One key with its effective value, for `doctor`. */
export interface EffectiveSetting {
  readonly key: string;
  readonly variable: string | null;
  /** Masked when it is secret. */
  readonly value: unknown;
  readonly source: ConfigSource;
}

/** Every key of the configuration, in the order of the file's schema. */
export function describeConfig(): readonly ConfigKeyDescription[] {
  return settingsKeys.map((row) => ({ ...row, variable: variableOf(row.key) }));
}

/** The effective value of every key and where it comes from, with secret values masked. */
export function effectiveSettings(
  loaded: LoadedConfig,
  secrets: readonly string[] = secretKeys,
): readonly EffectiveSetting[] {
  return settingsKeys.map(({ key }) => ({
    key,
    variable: variableOf(key),
    value: secrets.includes(key) ? "(not shown)" : loaded.settings[key],
    source: loaded.sources[key] ?? "default",
  }));
}
