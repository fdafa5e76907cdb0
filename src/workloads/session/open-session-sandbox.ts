import { runtimeForPackages } from "../../languages/choose-runtime.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Packages } from "../../packages/packages.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import { isWall } from "../../policy/isolation.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { Ecosystem } from "../../policy/install-policy.ts";
import { workFolder } from "../../policy/scratch.ts";
import { packagesFolder, sessionProfile } from "../../policy/profile.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { ImageListener, ProvideImage } from "../program/ensure-image.ts";
import { planOf } from "../program/plan-of.ts";
import type { OpenLargeScratch } from "../run/open-large-scratch.ts";
import type { WatchedScratch } from "../run/watched-scratch.ts";
import { ecosystems, SandboxPackages } from "./sandbox-packages.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SessionPackages } from "./session-packages.ts";
import { SessionSandbox } from "./session-sandbox.ts";

/** What preparing a sandbox reports. */
export type OpeningListener = ImageListener & {
  readonly onProgress: (message: string) => void;
};

export interface OpenSessionOptions {
  readonly sandboxes: Sandboxes;
  readonly provideImage: ProvideImage;
  readonly packages: Pick<Packages, "provide" | "openView" | "installsFor">;
  readonly openLargeScratch: OpenLargeScratch;
  /** What the programs of the call that it is opened for may reach. */
  readonly runNetwork: NetworkPolicy;
  /** Whether the call may do without some of its packages; default: no. */
  readonly isGuess?: () => boolean;
  readonly listener: OpeningListener;
}

/** After it any sweep may take a session's sandbox, whoever its owner is: 7 days. */
const lifetimeMs = 7 * 24 * 3_600_000;

/**
 * Makes sure that the image and the packages of a sandbox are there before it takes a place.
 * @throws IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, POLICY_DENIED, UNSUPPORTED, CANCELLED
 */
export async function prepareSessionSandbox(
  settings: SessionSettings,
  specs: SessionPackages,
  options: OpenSessionOptions,
  caller: Caller,
): Promise<SandboxPackages> {
  const { engine, image, imageOrigin, ociRuntime } = settings;
  const { provideImage, packages, runNetwork, listener } = options;
  const { signal } = caller;
  await provideImage({ image, origin: imageOrigin }, engine, { ...listener, signal });
  const capabilities = await engine.capabilities({ signal, ociRuntime });
  const canGrow = capabilities.hostPaths && isWall(capabilities.isolation);
  const hasMore = packages.installsFor({ capabilities, image, runNetwork });
  const held = new SandboxPackages(specs, canGrow && hasMore ? await packages.openView() : null);
  try {
    for (const ecosystem of ecosystems) {
      if (specs[ecosystem].length === 0) continue;
      const more = { ecosystem, specs: specs[ecosystem], capabilities };
      await held.add(ecosystem, await provideMore(settings, more, options, caller));
    }
  } catch (error) {
    await held[Symbol.asyncDispose]();
    throw error;
  }
  return held;
}

/** Packages of one language for a session's sandbox. @throws what `Packages.provide` throws */
export function provideMore(
  { engine, image, ociRuntime }: SessionSettings,
  { ecosystem, specs, capabilities }: MorePackages,
  { packages, runNetwork, isGuess, listener }: OpenSessionOptions,
  caller: Caller,
): Promise<ProvidedPackages> {
  const interpreter = runtimeForPackages(ecosystem, capabilities, engine.name);
  return packages.provide(
    { engine, capabilities, image, ociRuntime, runNetwork, interpreter, ecosystem, specs, isGuess: isGuess?.() },
    caller,
    listener.onProgress,
  );
}

export interface MorePackages {
  readonly ecosystem: Ecosystem;
  readonly specs: readonly string[];
  readonly capabilities: Capabilities;
}

/** A new sandbox for a session, which holds its packages. @throws CAPACITY, CANCELLED, and what the engine throws */
export async function openSessionSandbox(
  settings: SessionSettings,
  packages: SandboxPackages,
  { sandboxes, openLargeScratch }: Pick<OpenSessionOptions, "sandboxes" | "openLargeScratch">,
  caller: Caller,
): Promise<SessionSandbox> {
  const { engine, image, ociRuntime, limits, minIsolation, labels, home, name: givenName } = settings;
  let scratch: WatchedScratch | null = null;
  try {
    const capabilities = await engine.capabilities({ signal: caller.signal, ociRuntime });
    scratch = await openLargeScratch({ ...settings, folders: [packagesFolder] }, capabilities);
    const isOnDisk = scratch !== null;
    const scratchStorage = capabilities.scratch;
    const profile = sessionProfile({ image, ociRuntime, limits, scratchStorage, isOnDisk, minIsolation, home });
    const onDisk = (scratch?.mounts ?? []).map((mount) =>
      mount.target === workFolder ? { ...mount, target: profile.workingDirectory } : mount,
    );
    const mounts = [...packages.mounts, ...onDisk];
    const sandbox = await sandboxes.open(engine, { ...planOf(profile, lifetimeMs), mounts, labels, givenName }, caller);
    scratch?.watch(sandbox);
    return new SessionSandbox({ sandbox, profile, packages, scratch });
  } catch (error) {
    await scratch?.[Symbol.asyncDispose]();
    await packages[Symbol.asyncDispose]();
    throw error;
  }
}
