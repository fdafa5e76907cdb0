import { readFile } from "node:fs/promises";
import type { Config, LoadedConfig } from "./config.ts";
import { readHost, type Host } from "./host/host.ts";
import { loadConfig } from "./load-config.ts";
import { settingsOverrides, type Settings } from "./settings-overrides.ts";

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
