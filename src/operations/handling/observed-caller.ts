import { toGloveboxError } from "../../errors/glovebox-error.ts";
import type { ServerMetrics } from "../../telemetry/server-metrics.ts";
import type { SpanStart } from "../../base/span.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { CallOperation } from "../contract/operation-call.ts";
import type { OperationContract } from "../contract/operation-contract.ts";

/** What is measured about calls, and by which clock. */
export interface CallObservation {
  readonly serverMetrics: ServerMetrics;
  readonly tracing: Tracing;
  readonly monotonicMs: () => number;
}

/**
 * The same way to the handlers; measures the duration and outcome of each call, and traces it as part of its request.
 */
export function observedCaller(
  call: CallOperation,
  { serverMetrics, tracing, monotonicMs }: CallObservation,
): CallOperation {
  return async (contract, request, options) => {
    const startedMs = monotonicMs();
    const operation = contract.name;
    const end = (errorType: string | null): void =>
      serverMetrics.operationEnded({
        operation,
        isTool: contract.tool !== undefined,
        errorType,
        durationMs: monotonicMs() - startedMs,
      });
    const traced = (): ReturnType<typeof work> => tracing.inSpan(spanOf(contract), work);
    const work = (): ReturnType<typeof call<typeof contract>> => call(contract, request, options);
    try {
      const response = await (options.within?.(traced) ?? traced());
      end(null);
      return response;
    } catch (error) {
      end(toGloveboxError(error).errorType);
      throw error;
    }
  };
}

/** Operations that agents have as tools follow the conventions for tools, at every front end. */
function spanOf({ name, tool }: OperationContract): SpanStart {
  const attributes = { "glovebox.operation.name": name };
  if (tool === undefined) return { name, kind: "internal", attributes };
  return {
    name: `execute_tool ${name}`,
    kind: "internal",
    attributes: { ...attributes, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name },
  };
}
