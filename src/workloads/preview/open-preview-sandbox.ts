import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram } from "../../engines/capabilities.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { chooseInstallation, type Installation } from "../dependencies/installation.ts";
import type { Keeping } from "../dependencies/put-kept.ts";
import {
  planProjectSandbox,
  provideImageOf,
  type PlannedSandbox,
  type ProjectSandboxFacts,
} from "../dependencies/project-sandbox.ts";
import { projectTools } from "../dependencies/project-tools.ts";
import { checkEngine } from "../program/check-engine.ts";
import { readProject } from "../project/read-project.ts";
import type { PreviewParts, PreviewStart } from "./preview-parts.ts";
import type { PreviewSpec } from "./preview-spec.ts";

/** A sandbox for a preview, with nothing in it yet; it is to be removed before the scratch that its plan made. */
export interface PreviewSandbox extends PlannedSandbox, ProjectSandboxFacts {
  readonly sandbox: Sandbox;
  readonly installation: Installation;
  /** Where its dependencies are kept for later previews and test runs. */
  readonly keeping: Keeping;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Opens a sandbox for a preview by what is asked for and what stands in the project.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, CANCELLED
 */
export async function openPreviewSandbox(
  id: string,
  spec: PreviewSpec,
  parts: PreviewParts,
  start: PreviewStart,
  caller: Caller,
): Promise<PreviewSandbox> {
  const { engine, network, packages } = start;
  const { sandboxes, platform } = parts;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  assertRunsAnyProgram(capabilities, "that serves a preview");
  const { names } = await readProject(spec.project, platform);
  const tools = projectTools(spec.command, names);
  const { image, environment: imageEnvironment } = await provideImageOf(
    spec,
    tools.image,
    { ...parts, ...start, capabilities },
    caller,
  );
  const grant = await untilCancelled(network.grant(spec.network, caller.principal), caller.signal);
  const facts = { kind: "preview" as const, capabilities, image, imageEnvironment, grant };
  const planLike = (): Promise<PlannedSandbox> => planProjectSandbox(spec, facts, parts);
  const planned = await planLike();
  const plan = { ...planned.plan, id, labels: spec.labels, givenName: spec.name };
  const sandbox = await sandboxes.open(engine, plan, caller).catch(async (error: unknown) => {
    await planned[Symbol.asyncDispose]();
    throw error;
  });
  planned.scratch?.watch(sandbox);
  const { ociRuntime, limits } = spec;
  return {
    ...{ ...planned, ...facts, sandbox },
    installation: chooseInstallation({ ...spec, names, tools }),
    keeping: { packages, engine, ociRuntime, diskBytes: limits.diskBytes, planLike },
    warnings: [warnings, planned.profile.scratch.note ?? [], grant?.warnings ?? []].flat(),
  };
}
