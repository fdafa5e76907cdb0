import { toGloveboxError } from "../../errors/glovebox-error.ts";
import type { ServerMetrics } from "../../telemetry/prometheus/server-metrics.ts";
import type { CallOperation } from "../contract/operation-call.ts";

/** What is measured of calls, and by which clock. */
export interface CallObservation {
  readonly serverMetrics: ServerMetrics;
  readonly monotonicMs: () => number;
}

/** The same way to the handlers; the time and the end of each call are counted. */
export function observedCaller(call: CallOperation, { serverMetrics, monotonicMs }: CallObservation): CallOperation {
  return async (contract, request, options) => {
    const startedMs = monotonicMs();
    const operation = contract.name;
    const end = (errorType: string | null): void =>
      serverMetrics.operationEnded({ operation, errorType, durationMs: monotonicMs() - startedMs });
    try {
      const response = await call(contract, request, options);
      end(null);
      return response;
    } catch (error) {
      end(toGloveboxError(error).errorType);
      throw error;
    }
  };
}
