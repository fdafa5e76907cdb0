import type { OperationRow, ToolForm } from "../../operations/operation-row.ts";

/** The tool form of a row that is known to have one. */
export function toolOf(row: OperationRow): ToolForm {
  if (row.tool === undefined) throw new TypeError(`${row.operation.name} is no tool.`);
  return row.tool;
}
