import type { Tool } from "@modelcontextprotocol/server";
import type { OfferedTool } from "./offered-tool.ts";
import { inputSchemaOf } from "./schemas/input-schema.ts";
import { outputSchemaOf } from "./schemas/output-schema.ts";
import { viewArtifactTool } from "./view-artifact.ts";
import type { ToolDeployment } from "./schemas/tool-deployment.ts";

/**
 * The tools for `tools/list`, for the deployment if one is given. Hints that equal their defaults are left out; only
 * whether a tool that changes something is destructive is always stated.
 */
export function toolList(offered: readonly OfferedTool[], deployment?: ToolDeployment, viewsArtifacts = false): Tool[] {
  const fromTable = offered.map((row): Tool => {
    const { name, description, tool } = row;
    const { title, readOnly, destructive, idempotent, openWorld } = tool;
    const caveat = deployment === undefined ? null : (tool.caveat?.(deployment) ?? null);
    return {
      name,
      title,
      description: caveat === null ? description : `${description} ${caveat}`,
      inputSchema: inputSchemaOf(row, deployment) as Tool["inputSchema"],
      outputSchema: outputSchemaOf(row),
      annotations: {
        ...(readOnly ? { readOnlyHint: true } : { destructiveHint: destructive }),
        ...(idempotent ? { idempotentHint: true } : {}),
        ...(openWorld ? {} : { openWorldHint: false }),
      },
    };
  });
  return viewsArtifacts ? [...fromTable, viewArtifactTool] : fromTable;
}
