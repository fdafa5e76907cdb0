import type { Platform } from "../platform/platform.ts";

/** What is measured of requests, and by which clock. */
export type RequestTiming = Pick<Platform, "serverMetrics" | "monotonicMs">;

/** Does the work and counts its time and its end; `tool` is one that is offered, null for other requests. */
export async function timedRequest<Result>(
  { serverMetrics, monotonicMs }: RequestTiming,
  { method, tool }: { readonly method: string; readonly tool: string | null },
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const startedMs = monotonicMs();
  let errorType: string | null = "protocol_error";
  try {
    const result = await work();
    errorType = (result as { readonly isError?: boolean }).isError === true ? "tool_error" : null;
    return result;
  } finally {
    serverMetrics.mcpRequestEnded({ method, tool, errorType, durationMs: monotonicMs() - startedMs });
  }
}
