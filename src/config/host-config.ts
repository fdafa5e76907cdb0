import { readFile } from "node:fs/promises";
import type { Config, LoadedConfig } from "./config.ts";
import { readHost, type Host } from "./host/host.ts";
import { loadConfig } from "./load-config.ts";
import type { ConfigFlags } from "./layers/flag-layer.ts";

/** What a caller sets itself; overrides the environment and the file. */
export interface ConfigOverrides {
  /** Keys and values as in the configuration file (docs/configuration.md). */
  readonly settings?: Settings | undefined;
  /** Path of the configuration file; default: `GLOVEBOX_CONFIG`, else the user's own. */
  readonly configFile?: string | undefined;
  /** Where `configFile` was given, for errors; default: `--config`. */
  readonly configFileGivenBy?: string | undefined;
  /** Where the value of a key was given in `settings`, for errors; default: on the command line. */
  readonly placeOfSetting?: ((key: string) => string) | undefined;
}

/** The configuration for this machine and process. */
export interface HostConfig {
  readonly config: Config;
  readonly host: Host;
  /** The same configuration with where each value comes from. */
  readonly loaded: LoadedConfig;
}

/** @throws INVALID_REQUEST naming every bad key and value */
export async function loadHostConfig(overrides: ConfigOverrides): Promise<HostConfig> {
  const host = readHost();
  const loaded = await loadConfig({
    environment: host.environment,
    homeDirectory: host.homeDirectory,
    file: overrides.configFile,
    fileGivenBy: overrides.configFileGivenBy,
    readFile: (path) => readFile(path, "utf8"),
    flags: settingsOverrides(overrides.settings ?? {}),
    placeOfFlag: overrides.placeOfSetting,
  });
  return { config: loaded.values, host, loaded };
}

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
