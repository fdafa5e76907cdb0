import { explainInstallation, installDependencies } from "../dependencies/install-dependencies.ts";
import { networkWarnings } from "../run/explain-network.ts";
import type { PhaseResult, ReadyTests, TestRun, TestsPlace } from "./test-run.ts";
import { uncounted } from "./tests-result.ts";

/**
 * Installs what the tests need; resolves to null when it has gone well, else to the result of a run whose tests were not
 * reached. @throws what starting a command throws
 */
export async function install(
  { spec, dependencies, caller, listener }: TestRun,
  { project: { setupCommand: line }, image }: ReadyTests,
  { sandbox, record, profile }: TestsPlace,
): Promise<PhaseResult | null> {
  if (line === null) return null;
  const { environment } = profile;
  const where = { line, image, environment, timeoutMs: spec.setupTimeoutMs };
  const ended = await installDependencies(sandbox, { ...dependencies, ...listener, ...where }, caller);
  if (ended === null) return null;
  const error = explainInstallation(line, ended);
  const { exitCode, durationMs } = ended.end;
  const outcome = error.errorType === "CANCELLED" ? "cancelled" : "failed";
  record.end({ outcome, exitCode, durationMs, errorType: error.errorType });
  return {
    ...uncounted,
    verdict: "could_not_run",
    reason: error.message,
    outcome,
    exitCode,
    output: ended.output.text(),
    truncated: ended.output.truncated,
    durationMs,
    memoryPeakBytes: null,
    warnings: networkWarnings(ended.networkReport),
    error,
  };
}
