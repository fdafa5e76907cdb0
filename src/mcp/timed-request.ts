import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import type { Platform } from "../platform/platform.ts";

/** What is measured about requests, and by which clock. */
export type RequestTiming = Pick<Platform, "serverMetrics" | "tracing" | "monotonicMs">;

/** An MCP request. */
export interface McpRequest {
  readonly method: string;
  /** The tool, if it is offered; null for other requests. */
  readonly tool: string | null;
  /** What came beside it. */
  readonly message: ServerContext["mcpReq"];
}

/**
 * Does the work, measures its duration and outcome, and traces it by OpenTelemetry's conventions for MCP. Uses the
 * `traceparent` in its `_meta` as the parent, and links to that of the HTTP request.
 */
export async function timedRequest<Result>(
  { serverMetrics, tracing, monotonicMs }: RequestTiming,
  { method, tool, message: { id, _meta: carrier } }: McpRequest,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const startedMs = monotonicMs();
  const span = tracing.begin({
    name: tool === null ? method : `${method} ${tool}`,
    kind: "server",
    attributes: {
      "mcp.method.name": method,
      "gen_ai.tool.name": tool ?? undefined,
      "jsonrpc.request.id": String(id),
    },
    carrier,
  });
  let errorType: string | null = "protocol_error";
  try {
    const result = await span.run(work);
    errorType = (result as { readonly isError?: boolean }).isError === true ? "tool_error" : null;
    return result;
  } catch (error) {
    if (error instanceof ProtocolError) errorType = String(error.code);
    throw error;
  } finally {
    span.end(errorType);
    serverMetrics.mcpRequestEnded({ method, tool, errorType, durationMs: monotonicMs() - startedMs });
  }
}
