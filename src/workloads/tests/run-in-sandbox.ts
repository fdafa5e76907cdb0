import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { Redaction } from "../../policy/redaction/redaction.ts";
import { describeCommand } from "../run/describe-work.ts";
import type { RunIds } from "../run/log-ending.ts";
import { copyProject } from "../project/copy-project.ts";
import { install } from "./install-phase.ts";
import { planSandbox } from "./plan-sandbox.ts";
import { runTestPhase } from "./test-phase.ts";
import type { PhaseResult, ReadyTests, TestRun, TestsPlace } from "./test-run.ts";
import { uncounted, type TestsResult } from "./tests-result.ts";
import { firstLine } from "./verdict.ts";

/** Opens a sandbox, copies the project, installs, tests, reads the results and removes it. @throws as `runTests` */
export async function runInSandbox(ids: RunIds, run: TestRun, ready: ReadyTests): Promise<TestsResult> {
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
