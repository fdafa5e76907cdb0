import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram } from "../../engines/capabilities.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { planProjectSandbox, provideImageOf, type PlannedSandbox } from "../dependencies/project-sandbox.ts";
import { checkEngine } from "../program/check-engine.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import { readProject } from "../project/read-project.ts";
import { planProject } from "./project-plan.ts";
import type { ProjectRunListener } from "../project/project-run.ts";
import type { TestRun, TestsDependencies, PhaseResult, ReadyTests, TestsPlace } from "./test-run.ts";
import { uncounted, type TestsResult } from "./tests-result.ts";
import type { TestsSpec } from "./tests-spec.ts";
import { firstLine } from "./verdict.ts";
import { Redaction } from "../../policy/redaction.ts";
import { describeCommand } from "../run/describe-work.ts";
import { copyProject } from "../project/copy-project.ts";
import { runTestPhase } from "./test-phase.ts";
import {
  explainInstallation,
  installDependencies,
  type InstalledDependencies,
} from "../dependencies/install-dependencies.ts";
import type { EndedLine } from "../dependencies/run-line.ts";
import { networkWarnings } from "../run/explain-network.ts";

/**
 * Runs a project's tests in a fresh sandbox, on a copy of the project that is never written back, and removes it
 * (SPEC TE). Tests that fail, or cannot be run, are a result; so is an image that is not available.
 * @throws UNSUPPORTED, ENGINE_UNAVAILABLE, CAPACITY, POLICY_DENIED for a project that is too large, and CANCELLED when
 * given up before the tests started
 */
export async function runTests(
  spec: TestsSpec,
  dependencies: TestsDependencies,
  caller: Caller,
  listener: ProjectRunListener,
): Promise<TestsResult> {
  const ids: RunIds = { principal: caller.principal };
  const { engine, logger } = dependencies;
  const { capabilities, warnings } = await loggingFailure(logger, ids, async () => {
    const checked = await checkEngine({ ...spec, engine }, spec, caller);
    assertRunsAnyProgram(checked.capabilities, "that tests a project");
    return checked;
  });
  const run = { spec, dependencies, caller, listener, capabilities };
  try {
    const result = await loggingFailure(logger, ids, () => prepareAndRun(ids, run));
    return { ...result, warnings: [...warnings, ...result.warnings] };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "IMAGE_UNAVAILABLE") throw error;
    return withoutImage(error, ids, run, warnings);
  }
}

async function prepareAndRun(ids: RunIds, run: TestRun): Promise<TestsResult> {
  const { spec, dependencies, caller } = run;
  const project = planProject(spec, await readProject(spec.project, dependencies.platform));
  const { image, environment: imageEnvironment } = await provideImageOf(
    spec,
    project.tools.image,
    { ...dependencies, ...run.listener, capabilities: run.capabilities },
    caller,
  );
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
  return runInSandbox(ids, run, { project, image, imageEnvironment, grant });
}

/** Tests that had no image to run in could not run: that says nothing about them (SPEC TE3). */
function withoutImage(
  error: GloveboxError,
  ids: RunIds,
  { spec, dependencies, capabilities }: TestRun,
  warnings: readonly string[],
): TestsResult {
  return {
    ...uncounted,
    verdict: "could_not_run",
    reason: firstLine(error.message),
    outcome: "failed",
    exitCode: null,
    output: "",
    truncated: false,
    durationMs: 0,
    memoryPeakBytes: null,
    image: spec.image ?? null,
    setupCommand: null,
    sandboxId: ids.sandbox ?? null,
    engine: dependencies.engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    policyDigest: ids.record?.policyDigest ?? null,
    warnings,
    error,
  };
}

/** Opens a sandbox, copies the project, installs, tests, reads the results and removes it. @throws as `runTests` */
async function runInSandbox(ids: RunIds, run: TestRun, ready: ReadyTests): Promise<TestsResult> {
  const { spec, dependencies, caller, listener, capabilities } = run;
  await using planned = await planSandbox(run, ready);
  const { profile, scratch } = planned;
  const plan = { ...planned.plan, id: spec.sandboxId, givenName: spec.name };
  await using sandbox = await dependencies.sandboxes.open(dependencies.engine, plan, caller);
  scratch?.watch(sandbox);
  ids.sandbox = sandbox.id;
  const work = describeCommand(spec.testCommand, new Redaction([]));
  const { limits, network } = spec;
  const record = (ids.record = sandbox.beginRun({ ...ids, work, timeoutMs: limits.timeoutMs, network }));
  listener.onSandbox(sandbox.id);
  const at = { ids, sandbox, record, profile };
  const { leftOut, line, result } = await runPhases(run, ready, at).catch((error: unknown) => {
    throw scratch?.error ?? error;
  });
  return {
    ...result,
    ...endedForDisk(scratch?.error ?? null),
    image: capabilities.images ? ready.image : null,
    setupCommand: line,
    sandboxId: sandbox.id,
    engine: dependencies.engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    policyDigest: record.policyDigest,
    warnings: [profile.scratch.note ?? [], leftOut, ready.grant?.warnings ?? [], result.warnings].flat(),
  };
}

async function runPhases(
  run: TestRun,
  ready: ReadyTests,
  at: TestsPlace,
): Promise<{ readonly leftOut: readonly string[]; readonly line: string | null; readonly result: PhaseResult }> {
  const { spec, dependencies, caller, listener } = run;
  listener.onProgress("Copying the project");
  const source = { ...spec, maxBytes: spec.limits.diskBytes };
  const leftOut = await copyProject(source, at.sandbox, { signal: caller.signal, platform: dependencies.platform });
  const { line, warnings, result } = await install(run, ready, at);
  return { leftOut: [...leftOut, ...warnings], line, result: result ?? (await runTestPhase(run, ready, at)) };
}

/** Any reports disappeared with the sandbox. */
function endedForDisk(error: GloveboxError | null): Partial<TestsResult> {
  if (error === null) return {};
  return { ...uncounted, verdict: "could_not_run", reason: firstLine(error.message), outcome: "sandbox_lost", error };
}

/**
 * Installs what the tests need; resolves to the shell line that did, and to the result of a run that did not reach its
 * tests, null when all went well.
 * @throws what starting a command throws
 */
async function install(
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

/** A sandbox for the tests, or one like it for what they need. @throws what `planProjectSandbox` throws */
function planSandbox({ spec, dependencies, capabilities }: TestRun, ready: ReadyTests): Promise<PlannedSandbox> {
  return planProjectSandbox(spec, { ...ready, kind: "test", capabilities }, dependencies);
}
