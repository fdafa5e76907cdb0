import { parseRequest } from "../../operations/contract/parse-request.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { followUpSchema } from "./tool-schemas.ts";

/** What a tool call asks for: work to begin, or word of work that goes on. */
export type ToolArguments =
  | { readonly type: "begin"; readonly request: Record<string, unknown> }
  | { readonly type: "follow"; readonly runId: string; readonly cancel: boolean };

/** @throws INVALID_REQUEST with every problem named by field */
export function parseToolArguments(offered: OfferedTool, given: unknown): ToolArguments {
  const isFollowUp = offered.tool.mayTakeLong && typeof given === "object" && given !== null && "run_id" in given;
  if (!isFollowUp) return { type: "begin", request: parseRequest(offered, given) };
  const { run_id: runId, cancel = false } = parseRequest({ request: followUpSchema }, given);
  return { type: "follow", runId, cancel };
}
