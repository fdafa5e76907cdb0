import { loadHostConfig } from "../config/host-config.ts";
import { readPackageVersion } from "../config/package-version.ts";
import { operationTable } from "../operations/table.ts";
import { createPlatform, type Door } from "../platform/platform.ts";
import { McpDoor } from "./mcp-door.ts";

export interface OpenMcpDoorOptions {
  /** `own-machine` for one client over stdio, `server` for a port. */
  readonly door: Door;
  /** Engine of calls that name none; default: the configuration's. */
  readonly engine?: string | undefined;
  readonly answerWithinMs: number;
}

/**
 * The MCP door of this process, with the whole operations table.
 * @throws INVALID_REQUEST when the configuration is not valid
 */
export async function openMcpDoor({ door, engine, answerWithinMs }: OpenMcpDoorOptions): Promise<McpDoor> {
  const { config, host } = await loadHostConfig({});
  const platform = createPlatform({ config, host, door, defaultEngine: engine });
  return new McpDoor({ platform, table: operationTable, version: readPackageVersion(), answerWithinMs });
}
