import {
  explainInstallation,
  installDependencies,
  type InstalledDependencies,
} from "../dependencies/install-dependencies.ts";
import type { EndedLine } from "../dependencies/run-line.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { planSandbox } from "./plan-sandbox.ts";
import type { PhaseResult, ReadyTests, TestRun, TestsPlace } from "./test-run.ts";
import { uncounted } from "./tests-result.ts";
import { firstLine } from "./verdict.ts";

/**
 * Installs what the tests need; resolves to the shell line that did, and to the result of a run that did not reach its
 * tests, null when all went well.
 * @throws what starting a command throws
 */
export async function install(
  run: TestRun,
  ready: ReadyTests,
  { sandbox, record, profile }: TestsPlace,
): Promise<Pick<InstalledDependencies, "line" | "warnings"> & { readonly result: PhaseResult | null }> {
  const { spec, dependencies, caller, listener } = run;
  const { environment } = profile;
  const keeping = {
    ...dependencies,
    ociRuntime: spec.ociRuntime,
    diskBytes: spec.limits.diskBytes,
    planLike: () => planSandbox(run, ready),
  };
  const what = { ...ready.project, image: ready.image, keeping, environment, timeoutMs: spec.setupTimeoutMs };
  const { line, failed, warnings } = await installDependencies(
    sandbox,
    { ...dependencies, ...listener, ...what },
    caller,
  );
  return { line, warnings, result: line === null || failed === null ? null : notInstalled(line, failed, record) };
}

function notInstalled(line: string, ended: EndedLine, record: TestsPlace["record"]): PhaseResult {
  const error = explainInstallation(line, ended);
  const { exitCode, durationMs } = ended.end;
  const outcome = error.errorType === "CANCELLED" ? "cancelled" : "failed";
  record.end({ outcome, exitCode, durationMs, errorType: error.errorType });
  return {
    ...uncounted,
    verdict: "could_not_run",
    reason: firstLine(error.message),
    outcome,
    exitCode,
    output: ended.output.text(),
    truncated: ended.output.truncated,
    durationMs,
    memoryPeakBytes: null,
    warnings: networkWarnings(ended.networkReport, outcome),
    error,
  };
}
