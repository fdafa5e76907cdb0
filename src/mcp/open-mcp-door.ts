import { loadHostConfig, type ConfigOverrides } from "../config/load-config.ts";
import { readPackageVersion } from "../config/host/own-package.ts";
import { operationTable } from "../operations/table.ts";
import { createPlatform, type PlatformOptions, type SettledSessions } from "../platform/platform.ts";
import { McpDoor } from "./mcp-door.ts";
import { defaultProfiles, type ToolProfile } from "./tools/tool-profiles.ts";

export type { SettledSessions } from "../platform/platform.ts";

export interface OpenMcpDoorOptions
  extends
    Pick<ConfigOverrides, "configFile" | "settings">,
    Pick<PlatformOptions, "door" | "grantOf" | "prefersContainers" | "storeByDefault"> {
  /** Engine for calls that name none; default: the configuration's. */
  readonly engine?: string | undefined;
  /** Which tools it offers; default: those of running programs, sessions and environments. */
  readonly profiles?: readonly ToolProfile[] | undefined;
  /** A call that takes longer is answered with its id, and continues; in milliseconds. */
  readonly answerWithinMs: number;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** The door, whose platform other doors of the process share, and where sessions run if that was settled at this start. */
export interface OpenMcpDoor {
  readonly door: McpDoor;
  readonly settledSessions: SettledSessions | null;
}

/**
 * The MCP front end of this process, with the whole operations table, once the named engine answers (SPEC RT1).
 * @throws INVALID_REQUEST if the configuration is not valid, ENGINE_UNAVAILABLE with the engine's start instructions
 */
export async function openMcpDoor(options: OpenMcpDoorOptions): Promise<OpenMcpDoor> {
  const { engine, configFile, settings, profiles = defaultProfiles, answerWithinMs, signal, ...ofPlatform } = options;
  const { config, loaded, host } = await loadHostConfig({ configFile, settings });
  const platform = await createPlatform({ ...ofPlatform, config, loaded, host, defaultEngine: engine });
  await platform.tracing.open(platform.logger);
  try {
    const settledSessions = await platform.assertEngineAnswers(signal);
    const version = readPackageVersion();
    const door = new McpDoor({ platform, operations: operationTable, profiles, version, answerWithinMs });
    return { door, settledSessions };
  } catch (error) {
    await platform.close();
    throw error;
  }
}
