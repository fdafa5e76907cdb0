import type { Tool } from "@modelcontextprotocol/server";
import type { OperationRow } from "../operations/operation-row.ts";
import { toolOf } from "./tool-of.ts";
import { inputSchemaOf, outputSchemaOf } from "./tool-schemas.ts";

/** The rows as `tools/list` shows them. */
export function toolList(rows: readonly OperationRow[]): Tool[] {
  return rows.map((row) => {
    const { title, readOnly, destructive, idempotent, openWorld, mayTakeLong } = toolOf(row);
    const { name, description } = row.operation;
    return {
      name,
      title,
      description: mayTakeLong ? `${description} ${longCalls}` : description,
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
