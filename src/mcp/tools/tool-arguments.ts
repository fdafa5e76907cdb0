import { parseRequest } from "../../operations/parse-request.ts";
import type { OperationRow } from "../../operations/operation-row.ts";
import { followUpSchema } from "./tool-schemas.ts";

/** What a tool call asks for: work to begin, or word of work that goes on. */
export type ToolArguments =
  | { readonly type: "begin"; readonly request: Record<string, unknown> }
  | { readonly type: "follow"; readonly runId: string; readonly cancel: boolean };

/** @throws INVALID_REQUEST with every problem named by field */
export function parseToolArguments({ operation, tool }: OperationRow, given: unknown): ToolArguments {
  const isFollowUp = tool?.mayTakeLong === true && typeof given === "object" && given !== null && "run_id" in given;
  if (!isFollowUp) return { type: "begin", request: parseRequest(operation.request, given) };
  const { run_id: runId, cancel = false } = parseRequest(followUpSchema, given);
  return { type: "follow", runId, cancel };
}
