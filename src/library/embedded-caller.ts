import type { Logger } from "../base/logger.ts";
import { loadHostConfig, type ConfigOverrides } from "../config/load-config.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { createPlatform, type Alert } from "../platform/platform.ts";
import type { Caller } from "./objects/calls.ts";

/** Options of the embedded Glovebox; everything else comes from the environment and the configuration file. */
export interface EmbeddedOptions extends ConfigOverrides {
  /** Engine for requests that do not name one: auto, docker, podman, apple, kubernetes or local; default: CONTAINER_RUNTIME, else auto. */
  readonly engine?: string | undefined;
  /** Folder that context files are read below and that their names are relative to; default: the process's own. */
  readonly workingDirectory?: string | undefined;
  /** Called with the alerts of every sandbox; not awaited. */
  readonly onAlert?: ((alert: Alert) => void) | undefined;
  /** Whether sandboxes may be started ahead of time, if the configuration allows it; default true. */
  readonly keepsWarm?: boolean | undefined;
  /** Receives the log at every level, instead of stderr; pino loggers work. */
  readonly logger?: Logger | undefined;
  /** Makes what writes the log on stderr at the configured level, for its first line; default: one JSON object a line. */
  readonly openLog?: (() => Logger) | undefined;
}

/** The principal of this process's own requests. */
const principal = "local";

/**
 * The operations of a platform of this process.
 * @throws INVALID_REQUEST when the configuration is not valid, or there is no engine of that name
 */
export async function openEmbeddedCaller(options: EmbeddedOptions = {}): Promise<Caller> {
  const { workingDirectory, engine, onAlert, keepsWarm, logger, openLog, ...overrides } = options;
  const { config, host, loaded } = await loadHostConfig(overrides);
  const platform = await createPlatform({
    config,
    loaded,
    host: { ...host, workingDirectory: workingDirectory ?? host.workingDirectory },
    door: "person",
    defaultEngine: engine,
    projectsSetting: overrides.placeOfSetting?.("project_roots"),
    onAlert,
    keepsWarm,
    logger,
    openLog,
  });
  await platform.tracing.open(platform.logger);
  const closing = new AbortController();
  return {
    call: (contract, request, call) => {
      const signal = call.signal === undefined ? closing.signal : AbortSignal.any([closing.signal, call.signal]);
      return platform.call(contract, request, { ...call, signal, isOperator: true });
    },
    principal,
    close: async () => {
      // Cancels running calls before their sandboxes are removed, which would look like a loss.
      closing.abort();
      const left = await platform.close();
      if (left.length > 0) throw leftBehind(left);
    },
  };
}

function leftBehind(left: readonly string[]): GloveboxError {
  return new GloveboxError("ENGINE_UNAVAILABLE", `The engine did not remove everything in time: ${left.join(", ")}.`, {
    suggestion: "Check the engine; `glovebox prune` and the next start of Glovebox remove what is left.",
    context: { left },
  });
}
