import { loadHostConfig } from "../config/load-config.ts";
import type { GrantOf } from "../operations/contract/operation-contract.ts";
import { createPlatform, type Platform, type SettledSessions } from "../platform/platform.ts";

export type { SettledSessions } from "../platform/platform.ts";

export interface OpenServerPlatformOptions {
  /** Engine for requests that name none; default: the configuration's. */
  readonly engine?: string | undefined;
  /** Path of the configuration file; default: as everywhere. */
  readonly configFile?: string | undefined;
  /** Settings that override the configuration, by their keys; undefined ones are ignored. */
  readonly settings: Readonly<Record<string, string | boolean | undefined>>;
  /** What each principal may do. */
  readonly grantOf: GrantOf;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

/** A server's platform, and where its sessions run if that was settled at this start. */
export interface ServerPlatform {
  readonly platform: Platform;
  readonly settledSessions: SettledSessions | null;
}

/**
 * The platform of a server, once the named engine answers (SPEC RT1).
 * @throws INVALID_REQUEST if the configuration is not valid, ENGINE_UNAVAILABLE with the engine's start instructions
 */
export async function openServerPlatform(options: OpenServerPlatformOptions): Promise<ServerPlatform> {
  const { engine, configFile, settings, grantOf, signal } = options;
  const { config, loaded, host } = await loadHostConfig({ settings, configFile });
  const platform = await createPlatform({
    ...{ config, loaded, host, grantOf },
    door: "server",
    defaultEngine: engine,
    storeByDefault: true,
    prefersContainers: true,
  });
  await platform.tracing.open(platform.logger);
  try {
    return { platform, settledSessions: await platform.assertEngineAnswers(signal) };
  } catch (error) {
    await platform.close();
    throw error;
  }
}
