import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { LimitKind } from "../../policy/limits.ts";
import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch } from "../../policy/scratch.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { planOf } from "../program/plan-of.ts";
import type { Settings } from "../run/settings.ts";
import { WatchedScratch, type WatchedScratchOptions } from "../run/watched-scratch.ts";
import { chooseImage } from "./choose-image.ts";
import type { BuiltImage, ImageBuildRequest } from "./dockerfile/build-sandbox.ts";
import { provideProjectImage } from "./dockerfile/provide-project-image.ts";
import type { ImageName } from "./project-tools.ts";
import { toolVariables } from "./tool-variables.ts";

/** What every request for a project's own programs says (SPEC TE1, UI1, PV1); every value is within the policy already. */
export interface ProjectSettings extends Settings {
  /** A shell line that installs what they need; undefined: depends on the project's lockfile; empty: nothing. */
  readonly setupCommand: string | undefined;
  /** Time of the installation. */
  readonly setupTimeoutMs: number;
  /** Undefined: by the project. */
  readonly image: string | undefined;
  readonly defaultImages: Readonly<Record<ImageName, string>>;
}

/** Those of programs that work on a copy. */
export interface CopySettings extends ProjectSettings {
  /** Whether ignored files are copied too. */
  readonly includeIgnored: boolean;
  /** Whether the image is that of the project's own Dockerfile, which is built where it is missing. */
  readonly dockerfile: boolean;
}

type ImageDependencies = Omit<
  ImageBuildRequest,
  "project" | "includeIgnored" | "ociRuntime" | "limits" | "networkPolicy" | "timeoutMs"
>;

/**
 * The image for the programs of a copy, which is there then (SPEC TE4). A build has the installation's network and time,
 * or the network that the programs have where they have one.
 * @throws what `chooseImage` and `provideProjectImage` throw
 */
export async function provideImageOf(
  spec: CopySettings & { readonly project: Pick<OpenPlace, "stablePath"> },
  usual: ImageName,
  dependencies: ImageDependencies,
  caller: Caller,
): Promise<BuiltImage> {
  const { platform, provideImage, capabilities } = dependencies;
  if (!spec.dockerfile) {
    const defaultImage = spec.defaultImages[usual];
    const question = { ...spec, defaultImage, hasImages: capabilities.images, platform, provideImage };
    return { image: await chooseImage(question), environment: {} };
  }
  const networkPolicy = spec.network.kind === "none" ? { kind: "registries" as const } : spec.network;
  const { network } = dependencies;
  return provideProjectImage(
    { ...dependencies, ...spec, network, networkPolicy, timeoutMs: spec.setupTimeoutMs },
    caller,
  );
}

/** Time beyond that of the commands before any sweep may take the sandbox: starting, copying, reading, removal. */
const lifetimeMarginMs = 900_000;

/** What is known when a sandbox is planned. */
export interface ProjectSandboxFacts {
  readonly kind: LimitKind;
  readonly capabilities: Capabilities;
  readonly image: string;
  /** Variables that the image's own Dockerfile has set; default: none. */
  readonly imageEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
  /** Variables by which its packages are found; default: none. */
  readonly packageEnvironment?: Readonly<Record<string, string>> | undefined;
  /** `uid:gid` of its programs; default: those that own nothing on this machine. */
  readonly processUser?: string | undefined;
}

/** A sandbox to be opened; its scratch on this machine's disk, if any, goes with this. */
export interface PlannedSandbox extends AsyncDisposable {
  readonly profile: Profile;
  readonly plan: SandboxPlan;
  /** Null where the engine provides its scratch. */
  readonly scratch: WatchedScratch | null;
}

/**
 * Plans a sandbox for a project's programs, or one like it for what they need, with scratch of its own.
 * @throws what `WatchedScratch.open` throws
 */
export async function planProjectSandbox(
  spec: ProjectSettings,
  facts: ProjectSandboxFacts,
  dependencies: Omit<WatchedScratchOptions, "diskBytes" | "diskScratch"> & { readonly diskScratch: DiskScratch },
): Promise<PlannedSandbox> {
  const { kind, capabilities, imageEnvironment, grant } = facts;
  const { diskBytes, timeoutMs } = spec.limits;
  const mayBeOnDisk = dependencies.diskScratch.serves(capabilities);
  const scratch = mayBeOnDisk ? await WatchedScratch.open({ ...dependencies, diskBytes }) : null;
  const profile = executeProfile({
    ...spec,
    ...facts,
    scratchStorage: capabilities.scratch,
    networkEnvironment: grant?.environment,
    environment: { ...toolVariables, ...imageEnvironment, ...spec.environment },
  });
  const own: Profile = { ...profile, ...(scratch === null ? {} : { scratch: watchedScratch(spec.limits) }), kind };
  const plan = { ...planOf(own, timeoutMs + spec.setupTimeoutMs + lifetimeMarginMs), mounts: scratch?.mounts };
  return { profile: own, plan, scratch, [Symbol.asyncDispose]: async () => scratch?.[Symbol.asyncDispose]() };
}
