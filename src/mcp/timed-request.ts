import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import type { Platform } from "../platform/platform.ts";

/** What is measured of requests, and by which clock. */
export type RequestTiming = Pick<Platform, "serverMetrics" | "tracing" | "monotonicMs">;

/** A request of MCP. */
export interface McpRequest {
  readonly method: string;
  /** One that is offered; null for other requests. */
  readonly tool: string | null;
  /** What came beside it. */
  readonly message: ServerContext["mcpReq"];
}

/**
 * Does the work, counts its time and its end, and traces it by OpenTelemetry's conventions for MCP. The `traceparent` of
 * its `_meta` is honoured; that of an HTTP request that carried it is linked to.
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
