import type { Tool } from "@modelcontextprotocol/server";
import type { Deployment } from "../../operations/contract/operation-contract.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { inputSchemaOf, outputSchemaOf } from "./tool-schemas.ts";

/** The tools as `tools/list` shows them, for the deployment where one is given. */
export function toolList(offered: readonly OfferedTool[], deployment?: Deployment): Tool[] {
  return offered.map((row) => {
    const { name, description, tool } = row;
    const { title, readOnly, destructive, idempotent, openWorld, mayTakeLong } = tool;
    const caveat = deployment === undefined ? null : (tool.caveat?.(deployment) ?? null);
    return {
      name,
      title,
      description: [description, caveat, mayTakeLong ? longCalls : null].filter((part) => part !== null).join(" "),
      inputSchema: inputSchemaOf(row),
      outputSchema: outputSchemaOf(row),
      annotations: {
        title,
        readOnlyHint: readOnly,
        destructiveHint: destructive,
        idempotentHint: idempotent,
        openWorldHint: openWorld,
      },
    };
  });
}

const longCalls =
  'If the answer says status "running", call again with its run_id and nothing else to wait for the rest.';
