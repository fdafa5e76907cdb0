import {
  checkDockerfile,
  readShellLine,
  readShellLineOrNothing,
  settle,
  type RunLimits,
  type MountNeeds,
  type RunNeeds,
  type StartNeeds,
} from "./settle.ts";
import { invalidField, GloveboxError } from "../errors/glovebox-error.ts";
import { checkContextFiles, type ContextFile } from "../policy/request/context-files.ts";
import { checkRelativePath } from "../policy/request/request-paths.ts";
import { readProject } from "../workloads/project/read-project.ts";
import { findTests, unlockedNote, runTests } from "../workloads/tests/run-tests.ts";
import type { TestsResult, TestsSpec, TestsDependencies } from "../workloads/tests/test-run.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { openProject } from "./project-handler.ts";
import { openContextFiles } from "./mounts-handler.ts";
import { runToWire, callListener, projectRunParts, resultAlertsSince } from "./to-wire.ts";
import { handle } from "./handler.ts";
import { runTestsContract, readTestReportContract, type RunTestsResponse } from "./tests-contract.ts";
import { unpackReport } from "../workloads/tests/report/packed-report.ts";
import type { TestReports } from "../store/test-reports.ts";

export type TestNeeds = StartNeeds &
  MountNeeds &
  RunNeeds<TestsDependencies> & {
    /** Full reports of test runs that have ended. */
    readonly testReports: TestReports;
  };

type Request = RequestOf<typeof runTestsContract>;

/** Maximum characters of all test names: each may take six in a variable, which Linux limits to 128 KiB. */
const maxNames = 10_000;

/** `run_tests`: a project's tests in a fresh sandbox. */
export const runTestsHandler = handle(runTestsContract, run);

async function run(platform: TestNeeds, request: Request, call: OperationCall): Promise<RunTestsResponse> {
  const field = "trusted_files";
  await using trusted = await openContextFiles(platform, request.trusted_files ?? [], { field, inMemory: true });
  const { contextFiles, notices } = trusted;
  const spec = specOf(platform, request, call, contextFiles);
  const opened = await openProject(platform, request.project_path, { readOnly: true, field: "project_path" });
  await using place = opened.project.place;
  const { engine, notes: engineNotes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    signal: call.signal,
  });
  const found = request.test_command === undefined ? await findTests(place, platform.host.platform) : null;
  const testCommand = readShellLine(found?.command ?? request.test_command ?? "", "test_command");
  const chosen = found === null ? [] : [`No test command was given, so this ran \`${found.command}\`: ${found.why}.`];
  const isInstalled = request.setup_command !== undefined || request.include_ignored === true;
  const unlocked = isInstalled ? null : unlockedNote(await readProject(place, platform.host.platform));
  const notes = [...new Set([...notices, ...opened.notices, ...engineNotes, ...chosen, unlocked ?? []].flat())];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const { mark } = platform.alertBook;
  const result = await runTests(
    { ...spec, testCommand, project: place },
    projectRunParts(platform, engine, call),
    call,
    callListener(call, request.name),
  );
  const { sandboxId, packed } = result;
  if (sandboxId !== null && packed !== null)
    platform.testReports.keep({ id: sandboxId, principal: call.principal }, packed);
  const alerts = sandboxId === null ? {} : resultAlertsSince(platform.alertBook, mark, sandboxId);
  return {
    ...toWire(result, notes, { kind: "test", ceilings: platform.config.ceilings }),
    test_command: testCommand,
    ...alerts,
  };
}

/** Everything except the project is checked before anything is started. */
function specOf(
  platform: TestNeeds,
  request: Request,
  call: OperationCall,
  trusted: readonly ContextFile[],
): Omit<TestsSpec, "project" | "testCommand"> {
  const { config } = platform;
  const settings = settle("test", request, platform, call);
  const { limits } = settings;
  const { python, javascript, session } = config.images;
  return {
    ...settings,
    setupCommand:
      request.setup_command === undefined ? undefined : readShellLineOrNothing(request.setup_command, "setup_command"),
    includeIgnored: request.include_ignored ?? false,
    trustedFiles: checkContextFiles(trusted, { reservedPaths: [], field: "trusted_files", diskBytes: limits.diskBytes })
      .files,
    onlyTests: checkNames(request.only_tests ?? []),
    reportFile: request.report_file === undefined ? undefined : checkRelativePath(request.report_file, "report_file"),
    wanted: { ctrf: request.reports?.includes("ctrf") ?? false, junit: request.reports?.includes("junit") ?? false },
    setupTimeoutMs: limits.timeoutMs,
    image: request.image === undefined ? undefined : platform.checkImage(request.image),
    dockerfile: checkDockerfile(request, config),
    defaultImages: { python, javascript, bun: session },
  };
}

function checkNames(names: readonly string[]): readonly string[] {
  const length = names.reduce((sum, name) => sum + name.length, 0);
  if (length <= maxNames && names.every((name) => name.trim() !== "" && !/[\0\n]/.test(name))) return names;
  const expected = `names of tests of one line each, at most ${maxNames} characters together`;
  throw invalidField("only_tests", expected, `${names.length} names of ${length} characters`);
}

function toWire(
  result: TestsResult,
  notes: readonly string[],
  limits: RunLimits,
): Omit<RunTestsResponse, "test_command"> {
  const { counts, ctrf, junit } = result;
  const report = { ...(ctrf === null ? {} : { ctrf }), ...(junit === null ? {} : { junit }) };
  return {
    verdict: result.verdict,
    reason: result.reason,
    passed: counts.passed,
    failed: counts.failed,
    skipped: counts.skipped,
    todo: counts.todo,
    other: counts.other,
    errors: counts.error,
    counted: result.from !== null,
    ...(result.from === null ? {} : { counted_from: result.from }),
    runners: [...result.runners],
    failures: result.failures.map((failure) => ({ ...failure })),
    ...(result.coverage === null ? {} : { coverage: result.coverage }),
    ...runToWire(result, notes, limits),
    output: result.output,
    ...(Object.keys(report).length === 0 ? {} : { report }),
    ...(result.image === null ? {} : { image: result.image }),
    ...(result.setupCommand === null ? {} : { setup_command: result.setupCommand }),
    ...(result.sandboxId === null ? {} : { sandbox_id: result.sandboxId }),
  };
}

/** `read_test_report`: from the store, or where there is none from the memory of this process. */
export const readTestReportHandler = handle(
  readTestReportContract,
  async ({ testReports }: TestNeeds, { id }, { principal }) => {
    const packed = await testReports.find({ id, principal });
    if (packed !== null) return { sandbox_id: id, ctrf: await unpackReport(packed) };
    throw new GloveboxError("NOT_FOUND", `No report of tests is kept of ${JSON.stringify(id)}.`, {
      suggestion:
        "Give the sandbox_id of a test run that was counted by a report; without a store only this process knows it.",
      context: { sandbox_id: id },
    });
  },
);
