import { loadHostConfig } from "../config/load-config.ts";
import { readPackageVersion } from "../config/host/package-version.ts";
import { operationTable } from "../operations/table.ts";
import type { Door } from "../platform/engine-chooser.ts";
import { createPlatform } from "../platform/platform.ts";
import { McpDoor } from "./mcp-door.ts";
import { defaultProfiles, type ToolProfile } from "./tools/tool-profiles.ts";

export interface OpenMcpDoorOptions {
  /** `stdio` for one client, `server` for a port. */
  readonly door: Door;
  /** Engine for calls that name none; default: the configuration's. */
  readonly engine?: string | undefined;
  /** Weakest isolation that is accepted; default: the configuration's. */
  readonly minIsolation?: string | undefined;
  /** Which tools it offers; default: those of running programs, sessions and environments. */
  readonly profiles?: readonly ToolProfile[] | undefined;
  readonly answerWithinMs: number;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The MCP front end of this process, with the whole operations table, once the named engine answers (SPEC RT1).
 * @throws INVALID_REQUEST if the configuration is not valid, ENGINE_UNAVAILABLE with the engine's start instructions
 */
export async function openMcpDoor(options: OpenMcpDoorOptions): Promise<McpDoor> {
  const { door, engine, minIsolation, profiles = defaultProfiles, answerWithinMs, signal } = options;
  const settings = minIsolation === undefined ? {} : { min_isolation: minIsolation };
  const { config, loaded, host } = await loadHostConfig({ settings });
  const platform = await createPlatform({ config, loaded, host, door, defaultEngine: engine });
  await platform.tracing.open(platform.logger);
  try {
    await platform.assertEngineAnswers(signal);
  } catch (error) {
    await platform.close();
    throw error;
  }
  return new McpDoor({ platform, operations: operationTable, profiles, version: readPackageVersion(), answerWithinMs });
}
