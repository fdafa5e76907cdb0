import type { Logger } from "../base/logger.ts";
import type { Alert } from "./objects/generated/results.ts";
import type { Settings } from "./objects/generated/settings.ts";

export type { Logger } from "../base/logger.ts";

/** Options of the embedded Glovebox; everything else comes from the environment and the configuration file. */
export interface GloveboxOptions {
  /** Engine for calls that do not name one; default: `CONTAINER_RUNTIME`, else `auto`, the first that answers. */
  readonly engine?: Settings["container_runtime"] | "local";
  /** Settings that override the environment and the file, with the file's keys (docs/configuration.md). */
  readonly settings?: Settings | undefined;
  /** Path of the configuration file; default: `GLOVEBOX_CONFIG`, else the user's own. */
  readonly configFile?: string | undefined;
  /** Folder for relative paths, and which context files must be in; default: the process's own. */
  readonly workingDirectory?: string | undefined;
  /** Throw `ProgramError` for programs that fail; default false. Each call can override it. */
  readonly throwOnError?: boolean | undefined;
  /** Called with the alerts of every sandbox; not awaited. */
  readonly onAlert?: ((alert: Alert) => void) | undefined;
  /** Receives the log at every level, instead of stderr; pino loggers work. */
  readonly logger?: Logger | undefined;
}
