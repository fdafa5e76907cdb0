import type { Tool } from "@modelcontextprotocol/server";
import type { OperationRow } from "../../operations/operation-row.ts";
import type { Platform } from "../../platform/platform.ts";
import { toolOf } from "./tool-of.ts";
import { inputSchemaOf, outputSchemaOf } from "./tool-schemas.ts";

/** The rows as `tools/list` shows them, for the deployment where one is given. */
export function toolList(rows: readonly OperationRow[], platform?: Platform): Tool[] {
  return rows.map((row) => {
    const tool = toolOf(row);
    const { title, readOnly, destructive, idempotent, openWorld, mayTakeLong } = tool;
    const { name, description } = row.operation;
    const caveat = platform === undefined ? null : (tool.caveat?.(platform) ?? null);
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
