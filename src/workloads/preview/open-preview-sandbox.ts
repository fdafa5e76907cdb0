import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram, type Capabilities } from "../../engines/capabilities.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { BuiltImage } from "../dependencies/dockerfile/build-request.ts";
import { provideProjectImage } from "../dependencies/dockerfile/provide-project-image.ts";
import { chooseImage } from "../dependencies/choose-image.ts";
import { chooseInstallation, type Installation } from "../dependencies/installation.ts";
import type { Keeping } from "../dependencies/put-kept.ts";
import { projectTools, type ProjectTools } from "../dependencies/project-tools.ts";
import { checkEngine } from "../program/check-engine.ts";
import { readProject } from "../project/read-project.ts";
import type { PreviewParts, PreviewStart } from "./preview-parts.ts";
import type { PreviewSpec } from "./preview-spec.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch } from "../../policy/scratch.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { toolVariables } from "../dependencies/tool-variables.ts";
import { planOf } from "../program/plan-of.ts";
import { WatchedScratch } from "../run/watched-scratch.ts";

/** A sandbox for a preview, with nothing in it yet; it is to be removed before the scratch that its plan made. */
export interface PreviewSandbox extends PlannedPreview, PreviewPlanFacts {
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
  const { image, environment: imageEnvironment } = spec.dockerfile
    ? await buildImage(spec, parts, { ...start, capabilities }, caller)
    : { image: await chosenImage(spec, start, { tools, capabilities, platform }), environment: {} };
  const grant = await untilCancelled(network.grant(spec.network, caller.principal), caller.signal);
  const facts = { capabilities, image, imageEnvironment, grant };
  const planLike = (): Promise<PlannedPreview> => planPreview(spec, parts, facts);
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

async function chosenImage(
  spec: PreviewSpec,
  { provideImage }: Pick<PreviewStart, "provideImage">,
  facts: { readonly tools: ProjectTools; readonly capabilities: Capabilities; readonly platform: NodeJS.Platform },
): Promise<string> {
  const { tools, capabilities, platform } = facts;
  const defaultImage = spec.defaultImages[tools.image];
  return chooseImage({ ...spec, defaultImage, hasImages: capabilities.images, platform, provideImage });
}

/** The build has the installation's network and time, or the network that the command has where it has one. */
function buildImage(
  spec: PreviewSpec,
  parts: PreviewParts,
  start: PreviewStart & { readonly capabilities: Capabilities },
  caller: Caller,
): Promise<BuiltImage> {
  const networkPolicy = spec.network.kind === "none" ? { kind: "registries" as const } : spec.network;
  const timeoutMs = spec.setupTimeoutMs;
  return provideProjectImage({ ...parts, ...spec, ...start, networkPolicy, timeoutMs, network: start.network }, caller);
}

/** Time beyond that of the commands before any sweep may take the sandbox: starting, copying, the end. */
const lifetimeMarginMs = 900_000;

/** What is known when a preview's sandbox is planned. */
interface PreviewPlanFacts {
  readonly capabilities: Capabilities;
  readonly image: string;
  /** What programs in that image get beside its own variables. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
}

/** A sandbox to be opened; its scratch on this machine's disk, if it has any, goes with this. */
interface PlannedPreview extends AsyncDisposable {
  /** Without what only its server is told, such as the port: dependencies are the same whatever that is. */
  readonly profile: Profile;
  readonly plan: SandboxPlan;
  /** Null where its scratch is the engine's. */
  readonly scratch: WatchedScratch | null;
}

/** Plans a sandbox for a preview, or one like it for what it needs, with scratch of its own. @throws what `WatchedScratch.open` throws */
async function planPreview(
  spec: PreviewSpec,
  parts: PreviewParts,
  { capabilities, image, imageEnvironment, grant }: PreviewPlanFacts,
): Promise<PlannedPreview> {
  const { diskBytes } = spec.limits;
  const mayBeOnDisk = parts.diskScratch.serves(capabilities);
  const scratch = mayBeOnDisk ? await WatchedScratch.open({ ...parts, diskBytes }) : null;
  const profile: Profile = {
    ...executeProfile({
      ...spec,
      image,
      scratchStorage: capabilities.scratch,
      networkEnvironment: grant?.environment,
      environment: { ...toolVariables, ...imageEnvironment, ...spec.environment },
    }),
    ...(scratch === null ? {} : { scratch: watchedScratch(spec.limits) }),
    kind: "preview",
  };
  const lifetimeMs = spec.limits.timeoutMs + spec.setupTimeoutMs + lifetimeMarginMs;
  const plan = { ...planOf(profile, lifetimeMs), mounts: scratch?.mounts };
  return { profile, plan, scratch, [Symbol.asyncDispose]: async () => scratch?.[Symbol.asyncDispose]() };
}
