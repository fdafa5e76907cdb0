import { z } from "zod";
import { maxContextFiles, maxEnvironmentEntries, testVerdicts } from "./contract/wire-values.ts";
import {
  listOf,
  textsByName,
  commandOrNothingSchema,
  commandSchema,
  maxReportFormats,
  maxTestNames,
  contextFileSchema,
  runSettings,
} from "./contract/request-schemas.ts";
import { alertLines, warningLines, runResponse } from "./contract/program-schema.ts";
import { defineOperation, quietTool } from "./contract/operation-contract.ts";

/** Request of a test run (SPEC TE1). */
const runTestsRequestSchema = z.strictObject({
  project_path: z
    .string()
    .describe(
      "The project's folder on the host. It is copied into the sandbox, without node_modules, caches, .git and what .gitignore names, and never written.",
    ),
  test_command: commandSchema
    .optional()
    .describe(
      "Command that runs the tests, as you would type it: npm test, python -m pytest -q; or program and arguments as a list; default: what the project's own files say, which `test_command` of the answer names.",
    ),
  setup_command: commandOrNothingSchema
    .optional()
    .describe(
      'Command that installs what the tests need, with the package registries as its network; default: the install of the project\'s lockfile, kept for later runs. "": nothing is installed.',
    ),
  environment: textsByName(maxEnvironmentEntries)
    .optional()
    .describe("Environment variables of the installation and the tests."),
  timeout_seconds: z.number().optional().describe("Time for the tests; default 300. The installation has as much."),
  trusted_files: listOf(contextFileSchema, maxContextFiles)
    .optional()
    .describe(
      "Files that are laid over the copy right before the tests run, such as tests that the code under test must not change; configuration of test runners beside them is removed.",
    ),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Copy node_modules and whatever else is left out otherwise; default false."),
  only_tests: listOf(z.string(), maxTestNames)
    .optional()
    .describe(
      "Names of the tests to run, as `failures` of an earlier run has them; default: all that the command runs.",
    ),
  report_file: z
    .string()
    .optional()
    .describe(
      "Where a tool that Glovebox does not know leaves its report in JUnit XML or CTRF: a file, or a folder of such files, relative to the project. Anything in the sandbox can write it. What was there before is removed first.",
    ),
  reports: listOf(z.enum(["ctrf", "junit"]), maxReportFormats)
    .optional()
    .describe("Formats in which the whole report is returned."),
  dockerfile: z
    .boolean()
    .optional()
    .describe(
      "Build the project's own Dockerfile, in a sandbox, and test in its image; only where the deployment allows it, and without `image`. Default false.",
    ),
  ...runSettings,
  image: z
    .string()
    .optional()
    .describe(
      "Container image; default: that of the project's devcontainer, else the deployment's for the language of the command, the lockfile or the files.",
    ),
});

const count = z.number().nullable();
const failure = z.object({
  name: z.string().describe("With the groups that it stands in."),
  file: z.string().nullable(),
  line: z.number().nullable(),
  message: z.string(),
  details: z.string().describe("The stack, and what was expected and came."),
});

/** Response of a test run. */
const runTestsResponseSchema = z.object({
  verdict: z.enum(testVerdicts).describe("passed: only where a report shows it and the exit code confirms it."),
  reason: z.string().describe("Why this verdict, in a sentence."),
  passed: count,
  failed: count,
  skipped: count,
  todo: count,
  other: count.describe("Neither good nor bad, such as pytest's xfailed and xpassed."),
  errors: count.describe("Files that could not be loaded, and tests whose set-up failed."),
  counted: z.boolean().describe("Whether tests were counted; if not, the numbers are null."),
  counted_from: z
    .enum(["report", "output", "report_file", "summary"])
    .optional()
    .describe(
      "output: from all that a runner without a report printed (cargo). report_file: from the file that the request names, which nothing signs. summary: from the last line of one that left none, which any program can print.",
    ),
  runners: z.array(z.string()).describe("Test runners that reported."),
  failures: z.array(failure).describe("The first 100 tests that failed or could not be tried."),
  coverage: z.number().optional().describe("Percent of lines, where the runner measured it."),
  ...runResponse,
  outcome: runResponse.outcome.describe("How the command ended."),
  output: z.string().describe("Both streams as they came, up to the cap."),
  truncated: z.boolean().describe("Whether output beyond the cap was dropped; read_logs has more."),
  report: z
    .object({ ctrf: z.string().optional(), junit: z.string().optional() })
    .optional()
    .describe("The whole report in the formats that were requested."),
  image: z.string().optional().describe("Left out where the engine has no images."),
  setup_command: z.string().optional().describe("What was run to install."),
  test_command: z.string().describe("What was run."),
  sandbox_id: z.string().optional().describe("Left out where none was started."),
});

/** `run_tests`: a project's tests in a fresh sandbox, counted. */
export const runTestsContract = defineOperation({
  name: "run_tests",
  audience: "everyone",
  description: [
    "Runs a project's tests in a fresh sandbox, on a copy of the project, and counts them: pytest, jest, vitest, mocha, node:test and bun test,",
    "also behind npm test, make and the like. Its dependencies are installed first; the tests themselves have no network unless `network` asks for it.",
    "Read `verdict` and `reason`, then `failures`; tests that fail are an answer, not an error. Nothing survives the call.",
  ].join(" "),
  request: runTestsRequestSchema,
  response: runTestsResponseSchema,
  freshSandbox: true,
  carriesContent: true,
  routes: [{ method: "POST", path: "/api/sandbox/test" }],
  tool: {
    title: "Run tests",
    ...quietTool,
    openWorld: true,
    mayTakeLong: true,
    text: testsText,
  },
});

/** Request of `run_tests` as clients write it. */
export type RunTestsRequest = z.input<typeof runTestsRequestSchema>;

/** Response of `run_tests` as clients read it. */
export type RunTestsResponse = z.output<typeof runTestsResponseSchema>;

/** Maximum failures in a text. */
const maxShown = 20;

/** The numbers of a run in a line. */
export function countsLine(response: RunTestsResponse): string {
  if (!response.counted) return "not counted";
  const { passed, failed, errors, skipped, todo, other } = response;
  const shown = Object.entries({ passed, failed, errors, skipped, todo, other }).filter(
    ([name, number]) => name === "passed" || name === "failed" || (number ?? 0) > 0,
  );
  const counts = shown.map(([name, number]) => `${number ?? "?"} ${name}`).join(", ");
  return response.counted_from === "summary" ? `${counts} (as printed, not confirmed)` : counts;
}

/** The verdict, the failures first and short, then the end of the output. */
function testsText(response: RunTestsResponse): string {
  const { verdict, reason, failures, error, output, exit_code: exitCode, coverage } = response;
  return [
    `${verdict}: ${reason}`,
    `${countsLine(response)}; exit code ${exitCode ?? "none"}, ${Math.round(response.duration_ms)} ms (engine ${response.engine}).`,
    ...(coverage === undefined ? [] : [`coverage: ${coverage} % of lines`]),
    ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
    ...failures.slice(0, maxShown).map(failureLine),
    ...(failures.length > maxShown ? [`... and ${failures.length - maxShown} more failures.`] : []),
    ...(output === "" ? [] : ["output:", output.replace(/\n$/, "")]),
    ...alertLines(response.alerts),
    ...warningLines(response.warnings),
  ].join("\n");
}

function failureLine({ name, file, line, message }: RunTestsResponse["failures"][number]): string {
  const place = file === null ? "" : ` (${file}${line === null ? "" : `:${line}`})`;
  return `FAILED ${name}${place}: ${message.split("\n").slice(0, 6).join("\n  ").slice(0, 600)}`;
}

/** Request of `read_test_report`. */
const readTestReportRequestSchema = z.strictObject({
  id: z.string().min(1).max(128).describe("The sandbox_id of a test run's result."),
});

/** Response of `read_test_report`. */
const readTestReportResponseSchema = z.object({
  sandbox_id: z.string(),
  ctrf: z.string().describe("Every test in the Common Test Report Format, as JSON."),
});

export type ReadTestReportResponse = z.output<typeof readTestReportResponseSchema>;

/** `read_test_report`: every test of an earlier run, which its own answer left out. */
export const readTestReportContract = defineOperation({
  name: "read_test_report",
  audience: "everyone",
  description:
    "Reads the whole report of a test run that has ended: every test with its name, status, duration and file. It is kept in the store for as long as runs are, or where nothing is stored in the memory of the process, the newest 16 MiB, compressed.",
  request: readTestReportRequestSchema,
  response: readTestReportResponseSchema,
  routes: [{ method: "GET", path: "/api/sandbox/{id}/tests" }],
});
