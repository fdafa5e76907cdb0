import { untilCancelled } from "../../base/abort.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import { assertRunsAnyProgram, type Capabilities } from "../../engines/capabilities.ts";
import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch } from "../../policy/scratch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { chooseImage } from "../dependencies/image/choose-image.ts";
import { chooseInstallation, type Installation } from "../dependencies/installation.ts";
import { projectTools } from "../dependencies/project-tools.ts";
import { toolVariables } from "../dependencies/tool-variables.ts";
import { checkEngine } from "../program/check-engine.ts";
import { planOf } from "../program/plan-of.ts";
import { WatchedScratch } from "../run/disk/watched-scratch.ts";
import { readProject } from "../project/read-project.ts";
import type { PreviewParts, PreviewStart } from "./preview-parts.ts";
import type { PreviewSpec } from "./preview-spec.ts";

/** A sandbox for a preview, with nothing in it yet. */
export interface PreviewSandbox {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
  readonly installation: Installation;
  /** Its scratch on disk, which goes after the sandbox; null: it is in memory. */
  readonly scratch: WatchedScratch | null;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Time beyond that of the commands before any sweep may take the sandbox: starting, copying, the end. */
const lifetimeMarginMs = 900_000;

/**
 * Opens a sandbox for a preview by what is asked for and what stands in the project.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, CANCELLED
 */
export async function openPreviewSandbox(
  id: string,
  spec: PreviewSpec,
  parts: PreviewParts,
  { engine, network, provideImage }: PreviewStart,
  caller: Caller,
): Promise<PreviewSandbox> {
  const { sandboxes, diskScratch, platform } = parts;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  assertRunsAnyProgram(capabilities, "that serves a preview");
  const { names } = await readProject(spec.project, platform);
  const tools = projectTools(spec.command, names);
  const defaultImage = spec.defaultImages[tools.image];
  const image = await chooseImage({ ...spec, defaultImage, hasImages: capabilities.images, platform });
  await provideImage(image, spec.image !== undefined);
  const grant = await untilCancelled(network.grant(spec.network, caller.principal), caller.signal);
  const mayBeOnDisk = diskScratch.serves(capabilities);
  const scratch = mayBeOnDisk ? await WatchedScratch.open({ ...parts, diskBytes: spec.limits.diskBytes }) : null;
  const profile: Profile = {
    ...executeProfile({
      ...spec,
      image,
      scratchStorage: capabilities.scratch,
      networkEnvironment: grant?.environment,
      // What many servers take their port from; BROWSER: there is none to open.
      environment: { ...toolVariables, PORT: String(spec.port), BROWSER: "none", ...spec.environment },
    }),
    ...(scratch === null ? {} : { scratch: watchedScratch(spec.limits) }),
    kind: "preview",
  };
  const lifetimeMs = spec.limits.timeoutMs + spec.setupTimeoutMs + lifetimeMarginMs;
  const plan = { ...planOf(profile, lifetimeMs), mounts: scratch?.mounts, id, labels: spec.labels };
  const sandbox = await sandboxes.open(engine, plan, caller).catch(async (error: unknown) => {
    await scratch?.[Symbol.asyncDispose]();
    throw error;
  });
  scratch?.watch(sandbox);
  return {
    ...{ sandbox, profile, capabilities, grant, scratch },
    installation: chooseInstallation({ ...spec, names, tools }),
    warnings: [warnings, profile.scratch.note ?? [], grant?.warnings ?? []].flat(),
  };
}
