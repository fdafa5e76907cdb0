import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram } from "../../engines/capabilities.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { BuiltImage } from "../dependencies/dockerfile/build-request.ts";
import { provideProjectImage } from "../dependencies/dockerfile/provide-project-image.ts";
import { chooseImage } from "../dependencies/image/choose-image.ts";
import { checkEngine } from "../program/check-engine.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import { readProject } from "../project/read-project.ts";
import { planProject, type ProjectPlan } from "./project-plan.ts";
import { runInSandbox } from "./run-in-sandbox.ts";
import type { ProjectRunListener } from "../project/project-run.ts";
import type { TestRun, TestsDependencies } from "./test-run.ts";
import { uncounted, type TestsResult } from "./tests-result.ts";
import type { TestsSpec } from "./tests-spec.ts";
import { firstLine } from "./verdict.ts";

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
  const { image, environment: imageEnvironment } = spec.dockerfile
    ? await buildImage(run)
    : { image: await chosenImage(run, project), environment: {} };
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
  return runInSandbox(ids, run, { project, image, imageEnvironment, grant });
}

async function chosenImage({ spec, dependencies, capabilities }: TestRun, { tools }: ProjectPlan): Promise<string> {
  return chooseImage({
    ...spec,
    defaultImage: spec.defaultImages[tools.image],
    hasImages: capabilities.images,
    platform: dependencies.platform,
    provideImage: dependencies.provideImage,
  });
}

/** The build has the installation's network and time, or the network that the tests have where they have one. */
function buildImage({ spec, dependencies, capabilities, listener, caller }: TestRun): Promise<BuiltImage> {
  const networkPolicy = spec.network.kind === "none" ? { kind: "registries" as const } : spec.network;
  const timeoutMs = spec.setupTimeoutMs;
  return provideProjectImage(
    { ...dependencies, ...listener, ...spec, capabilities, networkPolicy, timeoutMs, network: dependencies.network },
    caller,
  );
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
