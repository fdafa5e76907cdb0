import type { Capabilities } from "../../engines/capabilities.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { CallOptions, Process } from "../../engines/engine.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { codeFolder, packagesFolder, sessionProfile, type Profile } from "../../policy/profile.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { SharedNetwork } from "../../sandbox/sandbox-network.ts";
import type { WatchedScratch, OpenLargeScratch } from "../run/watched-scratch.ts";
import type { ImportedModule } from "../../languages/imported-modules.ts";
import { WaitingRunner } from "../program/waiting-runner.ts";
import type { Context } from "./variables/contexts.ts";
import type { KeptInterpreter } from "./variables/kept-interpreter.ts";
import { SandboxPackages, ecosystems, type SessionPackages } from "./session-packages.ts";
import { runtimeForPackages } from "../../languages/choose-runtime.ts";
import type { Packages } from "../../packages/packages.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import { isWall } from "../../policy/isolation.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { Ecosystem } from "../../policy/install-policy.ts";
import { workFolder } from "../../policy/scratch.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { ImageListener, ProvideImage } from "../program/ensure-image.ts";
import { planOf } from "../program/plan-of.ts";
import type { SessionSettings } from "./session-call.ts";
import { kibibyte } from "../../base/bytes.ts";
import { runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import { withRealFolders } from "../program/runner-job.ts";

interface SessionSandboxParts {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly packages: SandboxPackages;
  /** Null: the engine provides its scratch. */
  readonly scratch: WatchedScratch | null;
}

/**
 * The sandbox of a session while it runs. One call of each context runs in it at a time, background processes beside it, and
 * the runner of the next call waits already: it is started when nothing of the former call is left.
 */
export class SessionSandbox {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly packages: SandboxPackages;
  readonly #scratch: WatchedScratch | null;
  readonly sharedNetwork: SharedNetwork = new SharedNetwork();
  readonly runner: WaitingRunner;
  /** The interpreters that keep variables from call to call, including those that have ended, by their context. */
  readonly interpreters: Map<Context, KeptInterpreter> = new Map();
  /** What Python programs of the session have imported here. */
  modules: readonly ImportedModule[] = [];
  #isUnusable = false;

  constructor({ sandbox, profile, packages, scratch }: SessionSandboxParts) {
    this.#scratch = scratch;
    this.sandbox = sandbox;
    this.profile = profile;
    this.packages = packages;
    this.runner = new WaitingRunner({
      sandbox,
      folder: codeFolder,
      isOver: () => this.mustReplace,
      endByForce: (process) => this.endLeftBehind(process),
    });
  }

  /** Why it was ended for what it has written; null when it was not. */
  get diskError(): GloveboxError | null {
    return this.#scratch?.error ?? null;
  }

  get id(): string {
    return this.sandbox.id;
  }

  get capabilities(): Capabilities {
    return this.sandbox.capabilities;
  }

  /** Whether it must not be used for another call. */
  get mustReplace(): boolean {
    return this.#isUnusable || this.sandbox.state !== "running";
  }

  /** Another sandbox takes its place before the next call. */
  markUnusable(): void {
    this.#isUnusable = true;
  }

  /** Null when it must be replaced. */
  async check(options: CallOptions): Promise<ContainerStats | null> {
    return this.mustReplace ? null : this.sandbox.check(options);
  }

  /** False when it must be replaced. */
  async isAlive(options: CallOptions): Promise<boolean> {
    return !this.mustReplace && this.sandbox.isAlive(options);
  }

  /** Ends whatever a call has left running; false when something may be left: then it must be replaced. */
  async endLeftBehind(process: Process): Promise<boolean> {
    const isClean = (await this.sandbox.endLeftBehind(process)) === "clean";
    if (!isClean) this.markUnusable();
    return isClean;
  }

  /** Ends the interpreters that keep variables, which are gone. */
  async endInterpreters(): Promise<void> {
    const interpreters = [...this.interpreters.values()];
    this.interpreters.clear();
    for (const each of interpreters) if (!(await each.end())) await this.endLeftBehind(each.process);
  }

  /** Ends the interpreter of one context, if there is one, and all that it has started. */
  async endInterpreter(context: Context): Promise<void> {
    const interpreter = this.interpreters.get(context);
    if (interpreter === undefined) return;
    this.interpreters.delete(context);
    interpreter.giveUp();
    await this.endLeftBehind(interpreter.process);
  }

  /** Whether the interpreter of that context is still running. */
  keepsVariablesOf(context: Context): boolean {
    return this.interpreters.get(context)?.isOver === false;
  }

  async remove(): Promise<void> {
    try {
      await this.sandbox.remove();
    } finally {
      try {
        await this.#scratch?.[Symbol.asyncDispose]();
      } finally {
        await this.packages[Symbol.asyncDispose]();
      }
    }
  }
}

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

interface MorePackages {
  readonly ecosystem: Ecosystem;
  readonly specs: readonly string[];
  readonly capabilities: Capabilities;
}

/** What a call needs from its session's sandbox, and how it is provided. */
export interface SandboxNeeds {
  /**
   * The packages that a sandbox must have, when those it has are not enough; null when they are. Undefined when only a
   * sandbox can tell.
   */
  missing(
    known: SessionPackages,
    live: SessionSandbox | null,
    caller: Caller,
  ): Promise<SessionPackages | null | undefined>;
  /** Gives the live sandbox these packages; false when only another one can have them. */
  grow(live: SessionSandbox, packages: SessionPackages, caller: Caller): Promise<boolean>;
  /** Prepares what the sandbox needs, while the previous one still lives. */
  prepare(packages: SessionPackages, caller: Caller): Promise<SandboxPackages>;
  /** Makes the sandbox. */
  open(packages: SandboxPackages, caller: Caller): Promise<SessionSandbox>;
}

/** The session's sandbox as it is, with the packages that it has. */
export function noExtraNeeds(settings: SessionSettings, options: OpenSessionOptions): SandboxNeeds {
  return {
    missing: () => Promise.resolve(null),
    grow: (live, packages, caller) => growPackages(live, packages, settings, options, caller),
    prepare: (packages, caller) => prepareSessionSandbox(settings, packages, options, caller),
    open: (packages, caller) => openSessionSandbox(settings, packages, options, caller),
  };
}

const seenWithinMs = 20_000;

interface Choices {
  readonly ecosystem: Ecosystem;
  readonly lists: readonly (readonly string[])[];
  readonly provide: (list: readonly string[]) => Promise<ProvidedPackages>;
}

/** Variables of every program of a session: the sandbox's, its packages', its network's, and its own. */
export function programVariables(
  { profile, packages, sandbox }: SessionSandbox,
  grant: NetworkGrant | null,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const pythonPath = [packages.pythonPath, profile.environment["PYTHONPATH"]].filter(Boolean).join(":");
  return withPlainOutput({
    ...withRealFolders({ ...profile.environment, PYTHONPATH: pythonPath }, sandbox),
    ...grant?.environment,
    ...own,
  });
}

/**
 * Makes sure that the image and the packages of a sandbox are there before it takes a place.
 * @throws IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, POLICY_DENIED, UNSUPPORTED, CANCELLED
 */
async function prepareSessionSandbox(
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
function provideMore(
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

/** A new sandbox for a session, which holds its packages. @throws CAPACITY, CANCELLED, and what the engine throws */
async function openSessionSandbox(
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

/**
 * Gives a live sandbox the packages that it lacks of these. False when only another sandbox can have them: this one cannot
 * be given more, or programs of it may be using another version of one.
 * @throws what `Packages.provide` throws, CANCELLED, SANDBOX_LOST
 */
async function growPackages(
  live: SessionSandbox,
  specs: SessionPackages,
  settings: SessionSettings,
  options: OpenSessionOptions,
  caller: Caller,
): Promise<boolean> {
  const { packages, capabilities } = live;
  if (!packages.canGrow) return false;
  for (const ecosystem of ecosystems) {
    const had = new Set(packages.specs[ecosystem]);
    const wanted = specs[ecosystem].filter((spec) => !had.has(spec));
    if (wanted.length === 0) continue;
    // Alone, because others may already have had them installed; or, if that brings other versions, together with the
    // rest.
    const lists = had.size === 0 ? [wanted] : [wanted, specs[ecosystem]];
    const provide = (list: readonly string[]): Promise<ProvidedPackages> =>
      provideMore(settings, { ecosystem, specs: list, capabilities }, options, caller);
    if (!(await addFirst(live, { ecosystem, lists, provide }, caller))) return false;
  }
  packages.become(specs);
  return true;
}

/** Adds the first of the lists that fits what is there. */
async function addFirst(
  { packages, sandbox }: SessionSandbox,
  { ecosystem, lists, provide }: Choices,
  caller: Caller,
): Promise<boolean> {
  for (const list of lists) {
    const provided = await provide(list);
    if (!packages.accepts(provided)) {
      await provided[Symbol.asyncDispose]();
      continue;
    }
    const added = await packages.add(ecosystem, provided);
    return added === null || isSeen(sandbox, added, caller);
  }
  return false;
}

/** Whether the sandbox really shows it: an engine may have copied what was there at the beginning. */
async function isSeen(sandbox: SessionSandbox["sandbox"], path: string, { signal }: Caller): Promise<boolean> {
  const command = ["sh", "-c", 'test -e "$1"', "sh", path];
  const { exitCode } = await runSandboxCommand(
    sandbox,
    { command, maxOutputBytes: kibibyte, timeLimitMs: seenWithinMs },
    { signal },
  );
  return exitCode === 0;
}
