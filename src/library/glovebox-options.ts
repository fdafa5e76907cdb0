import type { Logger } from "../base/logger.ts";
import type { Alert } from "./objects/generated/results.ts";
import type { Settings } from "./objects/generated/settings.ts";

export type { Logger } from "../base/logger.ts";

/** Options of the embedded Glovebox; everything else comes from the environment and the configuration file. */
export interface GloveboxOptions {
  /** Engine of calls that name none; default: `CONTAINER_RUNTIME`, else `auto`, the first that answers. */
  readonly engine?: Settings["container_runtime"] | "local";
  /** Settings above the environment and the file, by the names of the file (docs/configuration.md). */
  readonly settings?: Settings | undefined;
  /** Path of the configuration file; default: `GLOVEBOX_CONFIG`, else the user's own. */
  readonly configFile?: string | undefined;
  /** Folder that context files are read below and that their names are relative to; default: the process's own. */
  readonly workingDirectory?: string | undefined;
  /** Programs that do not end well throw `ProgramError`; default false. Each call can say otherwise. */
  readonly throwOnError?: boolean | undefined;
  /** Receives the alerts of every sandbox. Not waited for. */
  readonly onAlert?: ((alert: Alert) => void) | undefined;
  /** Receives the log instead of stderr, at every level; a logger of pino's fits. */
  readonly logger?: Logger | undefined;
}
