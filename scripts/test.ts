// Runs the static checks and, at the same time, vitest with the given arguments. With `--full`: what `npm test` leaves out
// because it is slow and rarely breaks. The last line has the counts: `N passed, N failed, N skipped`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countReport } from "./count-report.ts";
import { mergeAgain, testsAgain } from "./failed-again.ts";
import { failureReport } from "./failure-report.ts";
import { retryReport } from "./retry-report.ts";
import { startTool } from "./run-tool.ts";
import { checkNames, runChecks } from "./run-checks.ts";
import { readUnhandled, unhandledVariable } from "./unhandled-reporter.ts";
import { slowFiles } from "./slow-files.ts";
import { absentLanesEnvironment, findEngines } from "../test/lanes/absent-engines.ts";
import { rareUntilVariable } from "../test/lanes/time-left.ts";
import { keepSummary, summaryLines, type RunSummary } from "./run-summary.ts";

/** Far more than a run takes. A file that hangs is ended earlier, see test/lanes/file-bound.ts. */
const boundMs = 80 * 60_000;

const full = process.argv.includes("--full");
const given = process.argv.slice(2).filter((argument) => argument !== "--full");
const engines = await findEngines();
for (const [index, line] of engines.lines.entries()) console.log(`${index === 0 ? "Engines: " : "         "}${line}`);
if (Object.keys(engines.absent).length > 0)
  console.log("Tests of engines that are not here are left out, by name. docs/developing.md says how to get them.");
if (!full) console.log("The static checks run beside the tests.");
// The tests do not need the results of the checks, and their engines leave processor time to spare.
const checking = full ? Promise.resolve([]) : runChecks(checkNames);
const folder = mkdtempSync(join(tmpdir(), "glovebox-test-"));
try {
  const file = join(folder, "report.json");
  const reporters = [
    "--reporter=default",
    "--reporter=./scripts/skip-reporter.ts",
    "--reporter=./scripts/progress-reporter.ts",
    "--reporter=./scripts/unhandled-reporter.ts",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ];
  const projects = full ? "--project=*-rare" : "--project=!*-rare";
  // When files are named, each of their tests is reported.
  const unhandledFile = join(folder, "unhandled.json");
  const absent = given.length > 0 ? {} : absentLanesEnvironment(engines.absent);
  const variables = { ...absent, [unhandledVariable]: unhandledFile };
  const exitCode = await startTool("vitest", ["run", projects, ...reporters, ...given], {
    boundMs,
    lastFile: file,
    variables,
  });
  // What read a file of the tree that a test was just writing, or ran out of memory beside them, has its second try too.
  const failedChecks = await runChecks(await checking);
  const first = existsSync(file) ? readFileSync(file, "utf8") : null;
  const report = first !== null && process.env["CI"] === "true" ? await tryAgain(first, projects) : first;
  const unhandled = readUnhandled(unhandledFile);
  const summary = summarize(report, report === first || unhandled.length > 0 ? exitCode : 0, failedChecks, unhandled);
  if (report !== null) for (const line of slowFiles(report, process.cwd())) console.log(line);
  for (const line of summaryLines(summary)) console.log(line);
  const kept = process.env["GLOVEBOX_TEST_SUMMARY"];
  if (kept !== undefined) keepSummary(kept, summary);
  process.exitCode = summary.failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a few failed tests once more when everything else has ended; returns the report with their new results. */
async function tryAgain(first: string, projects: string): Promise<string> {
  const again = testsAgain(first, process.cwd());
  if (again === null) return first;
  console.log(`Of the tests that failed, ${again.count} are tried once more, one at a time:`);
  const file = join(folder, "again.json");
  const { files, pattern } = again;
  const alone = ["--retry=0", "--maxWorkers=1", "--no-file-parallelism", "--reporter=default", "--reporter=json"];
  const args = ["run", projects, ...alone, `--outputFile.json=${file}`, "-t", pattern, ...files];
  // They are few: the time that is kept for them is enough.
  const exitCode = await startTool("vitest", args, { boundMs, variables: { [rareUntilVariable]: undefined } });
  return exitCode === 0 ? mergeAgain(first, readFileSync(file, "utf8")) : first;
}

function summarize(
  report: string | null,
  exitCode: number,
  failedChecks: readonly string[],
  unhandled: readonly string[],
): RunSummary {
  const { passed, failed, skipped } = countReport(report, exitCode);
  const ofTests = report === null ? [] : failureReport(report, process.cwd());
  const isUnnamed = failed > 0 && ofTests.length === 0;
  const unnamed = [`failed: vitest ended with ${exitCode} and named no test`, ...unhandled].join("\n");
  return {
    passed,
    failed: failed + failedChecks.length,
    skipped,
    failures: [
      ...ofTests,
      ...(isUnnamed ? [unnamed] : []),
      ...failedChecks.map((name) => `failed: the static check of ${name}`),
    ],
    retries: report === null ? [] : retryReport(report, process.cwd()),
  };
}
