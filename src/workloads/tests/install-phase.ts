import { untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { runCommand, type EndedCommand } from "./run-command.ts";
import type { PhaseResult, ReadyTests, TestRun, TestsPlace } from "./test-run.ts";
import { uncounted } from "./tests-result.ts";

/**
 * Installs what the tests need, with the registries until that is done; resolves to null when it has gone well, else to
 * the result of a run whose tests were not reached. @throws what starting a command throws
 */
export async function install(
  { spec, dependencies, caller, listener }: TestRun,
  { project: { setupCommand }, image }: ReadyTests,
  { sandbox, record, profile }: TestsPlace,
): Promise<PhaseResult | null> {
  if (setupCommand === null) return null;
  listener.onProgress(`Installing: ${setupCommand}`);
  const granting = dependencies.network.grant({ kind: "registries" }, caller.principal);
  const grant = await untilCancelled(granting, caller.signal);
  const ended = await runCommand(sandbox, {
    ...dependencies,
    line: setupCommand,
    image,
    environment: { ...grant?.environment, ...profile.environment },
    timeoutMs: spec.setupTimeoutMs,
    grant,
    signal: caller.signal,
    onOutput: () => undefined,
    onDenied: listener.onDenied,
  });
  const { end, isGone } = ended;
  if (end.exitCode === 0 && isGone && end.interruption === null) return null;
  const errorType = end.interruption === "cancel" ? "CANCELLED" : "PACKAGE_INSTALL_FAILED";
  const outcome = end.interruption === "cancel" ? "cancelled" : "failed";
  record.end({ outcome, exitCode: end.exitCode, durationMs: end.durationMs, errorType });
  return failedInstallation(setupCommand, ended);
}

function failedInstallation(line: string, { end, isGone, output, networkReport }: EndedCommand): PhaseResult {
  const reason = `The installation (${line.slice(0, 200)}) ${howItEnded(end, isGone)}.`;
  const isCancelled = end.interruption === "cancel";
  return {
    ...uncounted,
    verdict: "could_not_run",
    reason: isCancelled ? "The run was cancelled." : reason,
    outcome: isCancelled ? "cancelled" : "failed",
    exitCode: end.exitCode,
    output: output.text(),
    truncated: output.truncated,
    durationMs: end.durationMs,
    memoryPeakBytes: null,
    warnings: networkWarnings(networkReport),
    error: isCancelled
      ? new GloveboxError("CANCELLED", "The run was cancelled.")
      : new GloveboxError("PACKAGE_INSTALL_FAILED", reason, {
          suggestion:
            "Read `output`; give a `setup_command` that works with the package registries alone, or an image that has what is needed.",
        }),
  };
}

function howItEnded({ interruption, exitCode }: EndedCommand["end"], isGone: boolean): string {
  if (interruption === "timeout") return "took too long";
  return isGone ? `ended with exit code ${exitCode ?? "unknown"}` : "left something running";
}
