/**
 * Takes away what OpenTelemetry keeps for a whole process, so that the files of tests after it find a process without it: unit
 * tests share one.
 */
export function forgetOpenTelemetry(): void {
  delete (globalThis as Record<symbol, unknown>)[Symbol.for("opentelemetry.js.api.1")];
}
