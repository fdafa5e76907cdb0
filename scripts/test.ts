// Static checks, then vitest with the arguments given. The last line counts: `N passed, N failed, N skipped`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countReport } from "./count-report.ts";
import { failureReport } from "./failure-report.ts";
import { runChecks } from "./run-checks.ts";
import { runTool } from "./run-tool.ts";

const failedChecks = runChecks();
const folder = mkdtempSync(join(tmpdir(), "glovebox-test-"));
try {
  const file = join(folder, "report.json");
  const reporters = [
    "--reporter=default",
    "--reporter=./scripts/skip-reporter.ts",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ];
  const exitCode = runTool("vitest", ["run", ...reporters, ...process.argv.slice(2)]);
  const report = existsSync(file) ? readFileSync(file, "utf8") : null;
  const { passed, failed, skipped } = countReport(report, exitCode);
  for (const failure of report === null ? [] : failureReport(report, process.cwd())) console.log(`\n${failure}`);
  if (failedChecks.length > 0) console.log(`Static checks that failed, each counted below: ${failedChecks.join(", ")}`);
  const allFailed = failed + failedChecks.length;
  console.log(`${passed} passed, ${allFailed} failed, ${skipped} skipped`);
  process.exitCode = allFailed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
