import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram } from "../../engines/capabilities.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { checkEngine } from "../program/check-engine.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import { readProject } from "../project/read-project.ts";
import { planProject } from "./project-plan.ts";
import { runInSandbox } from "./run-in-sandbox.ts";
import type { TestsDependencies, TestsListener } from "./test-run.ts";
import type { TestsResult } from "./tests-result.ts";
import type { TestsSpec } from "./tests-spec.ts";

/**
 * Runs a project's tests in a fresh sandbox, on a copy of the project that is never written back, and removes it
 * (SPEC TE). Tests that fail, or cannot be run, are a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, POLICY_DENIED for a project that is too large, and
 * CANCELLED when given up before the tests started
 */
export function runTests(
  spec: TestsSpec,
  dependencies: TestsDependencies,
  caller: Caller,
  listener: TestsListener,
): Promise<TestsResult> {
  const ids: RunIds = { principal: caller.principal };
  return loggingFailure(dependencies.logger, ids, async () => {
    const { engine } = dependencies;
    const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
    assertRunsAnyProgram(capabilities, "that tests a project");
    const project = planProject(spec, await readProject(spec.project, dependencies.platform));
    const image = spec.image ?? spec.defaultImages[project.tools.image];
    await dependencies.provideImage(image, spec.image !== undefined);
    const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
    const run = { spec, dependencies, caller, listener, capabilities };
    const result = await runInSandbox(ids, run, { project, image, grant });
    return { ...result, warnings: [...warnings, ...result.warnings] };
  });
}
