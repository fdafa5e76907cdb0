import { executeProfile, type Profile } from "../../policy/profile.ts";
import { toolVariables } from "../dependencies/tool-variables.ts";
import { planOf } from "../program/plan-of.ts";
import type { RunIds } from "../run/log-ending.ts";
import { copyProject } from "../project/copy-project.ts";
import { install } from "./install-phase.ts";
import { runTestPhase } from "./test-phase.ts";
import type { ReadyTests, TestRun } from "./test-run.ts";
import type { TestsResult } from "./tests-result.ts";

/** Time beyond that of the commands before any sweep may take the sandbox: starting, copying, reading, removal. */
const lifetimeMarginMs = 900_000;

/** Opens a sandbox, copies the project, installs, tests, reads what came of it and removes it. @throws as `runTests` */
export async function runInSandbox(ids: RunIds, run: TestRun, ready: ReadyTests): Promise<TestsResult> {
  const { spec, dependencies, caller, listener } = run;
  const { signal } = caller;
  const profile = profileOf(run, ready);
  const lifetimeMs = spec.limits.timeoutMs + spec.setupTimeoutMs + lifetimeMarginMs;
  const plan = { ...planOf(profile, lifetimeMs), id: spec.sandboxId };
  await using sandbox = await dependencies.sandboxes.open(dependencies.engine, plan, caller);
  ids.sandbox = sandbox.id;
  const record = (ids.record = sandbox.beginRun({ ...ids, timeoutMs: spec.limits.timeoutMs, network: spec.network }));
  listener.onSandbox(sandbox.id);
  listener.onProgress("Copying the project");
  const source = { ...spec, maxBytes: spec.limits.diskBytes };
  const leftOut = await copyProject(source, sandbox, { signal, platform: dependencies.platform });
  const at = { ids, sandbox, record, profile };
  const result = (await install(run, ready, at)) ?? (await runTestPhase(run, ready, at));
  return {
    ...result,
    image: run.capabilities.images ? ready.image : null,
    setupCommand: ready.project.setupCommand,
    sandboxId: sandbox.id,
    engine: dependencies.engine.name,
    isolation: run.capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    policyDigest: record.policyDigest,
    warnings: [profile.scratch.note ?? [], leftOut, ready.grant?.warnings ?? [], result.warnings].flat(),
  };
}

function profileOf({ spec, capabilities }: TestRun, { image, grant }: ReadyTests): Profile {
  const profile = executeProfile({
    ...spec,
    image,
    scratchStorage: capabilities.scratch,
    networkEnvironment: grant?.environment,
    environment: { ...toolVariables, ...spec.environment },
  });
  return { ...profile, kind: "test" };
}
