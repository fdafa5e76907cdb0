import { runLine } from "../dependencies/run-line.ts";
import { concludeRun, judgeRun } from "../run/conclude-run.ts";
import { explainEnding, type RunWords } from "../run/explain-ending.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { unlessLost } from "../run/unless-lost.ts";
import { countReports } from "./count-reports.ts";
import { collectReports, type CollectedReports } from "./inside/collect-reports.ts";
import { beginReporting, reporterVariables } from "./inside/command-variables.ts";
import { layTrustedFiles } from "./inside/lay-trusted-files.ts";
import { removeReportFile } from "./inside/report-file.ts";
import { placeReporters } from "./inside/place-reporters.ts";
import type { PhaseResult, ReadyTests, TestRun, TestsPlace } from "./test-run.ts";
import { runnerNamedIn } from "./summary-line.ts";
import { judgeTests } from "./verdict.ts";

const words: RunWords = {
  subject: "command",
  sandbox: "The sandbox",
  suggestions: {},
  outOfMemory: (limit) => `The tests ran out of their ${limit} of memory.`,
};

/** Runs the tests, reads their reports when nothing of them lives any more, and judges them. @throws as `runTests` */
export async function runTestPhase(run: TestRun, ready: ReadyTests, at: TestsPlace): Promise<PhaseResult> {
  const { spec, dependencies, caller, listener } = run;
  const { signal } = caller;
  const { ids, sandbox, record, profile } = at;
  const { reporters } = ready.project;
  if (spec.reportFile !== undefined) await removeReportFile(sandbox, spec.reportFile, { signal });
  await layTrustedFiles(sandbox, spec.trustedFiles, { signal });
  const [seeds, { oomKills: oomKillsBefore }] = await Promise.all([
    placeReporters(sandbox.files, { signal }),
    sandbox.stats(),
  ]);
  const startMs = dependencies.now();
  const ended = await runLine(sandbox, {
    ...dependencies,
    ...ready,
    line: `${beginReporting}${spec.testCommand}`,
    environment: { ...profile.environment, ...reporterVariables(profile.environment, reporters, spec.onlyTests) },
    timeoutMs: spec.limits.timeoutMs,
    signal,
    onOutput: ({ stream, bytes }) => listener.onOutput(stream, bytes),
    onDenied: listener.onDenied,
  });
  const isReadable = ended.isGone && ended.end.exitCode !== null;
  const collect = { seeds, expectsBun: reporters.bun, reportFile: spec.reportFile, signal };
  let collected: CollectedReports | null = null;
  const judged = await judgeRun({
    sandbox,
    record,
    end: ended.end,
    isLost: async () => {
      if (sandbox.state !== "running") return true;
      if (!isReadable) return false;
      collected = await unlessLost(sandbox, collectReports(sandbox.files, collect), { signal });
      return collected === null;
    },
    oomKillsBefore,
    networkReport: () => Promise.resolve(ended.networkReport),
  });
  const output = ended.output.text();
  const counting = { ...dependencies, output, startMs, signal };
  // Its bytes are here: reading them does not need the sandbox any more.
  const [{ counted, state, runs }] = await Promise.all([countReports(spec, collected, counting), sandbox.remove()]);
  const concluded = concludeRun(judged, {
    ids,
    logger: dependencies.logger,
    explain: (each) => explainEnding({ ...each, words, ...spec.limits }),
  });
  const { end, outcome, memoryPeakBytes, error } = concluded;
  return {
    ...counted,
    ...judgeTests({
      outcome,
      exitCode: end.exitCode,
      isGone: ended.isGone,
      state,
      runs,
      named: runnerNamedIn(spec.testCommand),
    }),
    outcome,
    exitCode: end.exitCode,
    output,
    truncated: ended.output.truncated,
    durationMs: end.durationMs,
    memoryPeakBytes,
    warnings: networkWarnings(ended.networkReport, outcome),
    error,
  };
}
