import type { RuntimeName } from "../languages/language-table.ts";
import { isWall } from "../policy/isolation.ts";
import path from "node:path";
import { Kept } from "../base/kept.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Limits } from "../policy/limits.ts";
import { installingNetwork, type NetworkPolicy } from "../policy/network/network.ts";
import {
  usualName,
  packageName,
  assertNoneDenied,
  assertPackagesAllowed,
  type Ecosystem,
  type InstallPolicy,
} from "../policy/install-policy.ts";
import type { ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import { FindInstaller } from "./find-installer.ts";
import { installFailed, refusedOnHost, toolFailed, toolResult, type RunTool } from "./install.ts";
import { PackageCache, type CachedSet, type PackageSetLease } from "./package-cache.ts";
import { packageSetId, type PackageSetKey } from "./package-set.ts";
import { includesRegistries, InstallSet } from "./install-set.ts";
import type { ImportedPackages } from "./imported-packages.ts";
import { PackageView } from "./package-view.ts";
import { provided, type ProvidedPackages } from "./provided-packages.ts";
import { ProjectSets } from "./project-sets.ts";
import { kibibyte } from "../base/bytes.ts";
import { runSandboxCommand } from "../sandbox/sandbox-command.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import {
  hostCommand,
  installEnvironment,
  installFolder,
  prepareCommand,
  installCommand,
  noScriptsMark,
  noScriptsNote,
} from "./package-manager.ts";
import { ageUnknownNote, ageVariables, ageUnknownMark } from "./min-age.ts";
import { untilCancelled } from "../base/abort.ts";
import { lockedPolicy } from "../policy/network/egress-policy.ts";
import { execWithNetwork } from "../sandbox/sandbox-network.ts";
import type { Kit } from "../base/kit.ts";

const notes = [
  [ageUnknownMark, ageUnknownNote],
  [noScriptsMark, noScriptsNote],
] as const;

/**
 * Runs the tool in a sandbox of the principal's: with the registries while it runs, with nothing from then on, and nothing
 * of this host.
 */
function runSealedTool(network: Pick<NetworkAccess, "grant">, principal: string): RunTool {
  return async (installation, sandbox, signal) => {
    const { manager, specs } = installation;
    const grant = await untilCancelled(network.grant(installingNetwork, principal), signal);
    if (grant === null) throw new Error("a policy without a grant");
    const { process, network: connection } = await execWithNetwork({
      sandbox,
      program: () =>
        sandbox.exec(
          {
            command: installCommand(manager, specs, installation.minAge),
            environment: { LANG: "C.UTF-8", ...grant.environment, ...installEnvironment(sandbox) },
          },
          { signal },
        ),
      grant,
      onDenied: () => undefined,
      // An installation has no secret.
      redact: (text) => text,
      signal,
    });
    try {
      process.stdin.end("the network is up\n");
      const ended = await Promise.race([toolResult(process), connection.lost]);
      if (ended === undefined) {
        throw installFailed(specs, "the egress proxy ended during the installation", {
          suggestion: "Retry: the next installation starts a fresh proxy.",
          context: { retryable: true },
        });
      }
      await connection.change(lockedPolicy);
      if (ended.exitCode === 0) {
        for (const [mark, note] of notes) if (ended.output.includes(mark)) installation.onNote(note);
        return;
      }
      await connection.settle();
      const refused = new Set(connection.denials.map(({ target, rule }) => `${target} (${rule})`));
      const also = [...grant.warnings, ...(refused.size > 0 ? [`refused: ${[...refused].join(", ")}`] : [])];
      throw toolFailed(installation, ended, { also, remedy: connection.denials[0]?.remedy });
    } finally {
      connection.close();
    }
  };
}

/** What leads the tool to the registries that this machine is set up for. */
interface HostRegistries {
  readonly environment: Readonly<Record<string, string>>;
  /** What could not be found out, one sentence each. */
  readonly problems: readonly string[];
}

const prepareMs = 30_000;

/**
 * Runs the tool on this machine itself, where nothing seals it (SPEC PK2): in a folder of its own, which also is its
 * home, and without any script of a package. It has the network that this machine has.
 */
function runHostTool(host: { readonly registries: () => Promise<HostRegistries> }): RunTool {
  return async (installation, sandbox, signal) => {
    const { manager, interpreter, specs, minAge, onNote } = installation;
    const { environment, problems } = await host.registries();
    const prepared = await runSandboxCommand(
      sandbox,
      { command: prepareCommand(interpreter, sandbox), maxOutputBytes: kibibyte, timeLimitMs: prepareMs },
      { signal },
    );
    if (prepared.exitCode !== 0) throw installFailed(specs, "its folder could not be made", { cause: prepared.stderr });
    const aged = minAge === null ? {} : ageVariables(minAge);
    if (minAge !== null && manager === "pip" && !(await knowsAges(sandbox, signal))) {
      if (minAge.isDemanded) throw ageUnknown(specs);
      onNote(ageUnknownNote);
    }
    const process = await sandbox.exec(
      {
        command: hostCommand(manager, specs, sandbox, minAge),
        environment: { LANG: "C.UTF-8", ...environment, ...aged, ...installEnvironment(sandbox) },
        workingDirectory: installFolder,
      },
      { signal },
    );
    process.stdin.end();
    const ended = await toolResult(process);
    if (ended.exitCode !== 0) throw toolFailed(installation, ended, { also: problems });
  };
}

/** Whether the host's pip has the option. */
async function knowsAges(sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
  const command = ["python3", "-m", "pip", "install", "--help"];
  const limits = { maxOutputBytes: 256 * kibibyte, timeLimitMs: prepareMs };
  const { stdout } = await runSandboxCommand(sandbox, { command, ...limits }, { signal });
  return stdout.text().includes("--uploaded-prior-to");
}

function ageUnknown(specs: readonly string[]): GloveboxError {
  return installFailed(specs, "this machine's pip cannot tell how long packages have been published", {
    suggestion:
      "Have the operator renew pip (26 or later), or leave packages.min_age (GLOVEBOX_PACKAGES_MIN_AGE) unset.",
    context: { setting: "packages.min_age" },
  });
}

/** How long a failed list is not retried: 10 minutes. */
const keptMs = 600_000;
const maxKept = 500;

/** Recently failed installations, so that they do not repeatedly delay programs that can do without them. */
export class RecentFailures {
  readonly #errors: Kept<GloveboxError>;

  constructor(now: () => number) {
    this.#errors = new Kept({ now, forMs: keptMs, max: maxKept });
  }

  /** @throws what the installation throws, or threw a short time ago */
  async unlessRecent<T>(id: string, install: () => Promise<T>): Promise<T> {
    const known = this.#errors.get(id);
    if (known !== undefined) throw known;
    try {
      return await install();
    } catch (error) {
      if (error instanceof GloveboxError && error.errorType === "PACKAGE_INSTALL_FAILED") {
        this.#errors.set(id, error);
      }
      throw error;
    }
  }
}

export interface PackagesOptions extends Pick<Kit, "logger" | "now"> {
  /** The cache's folder. */
  readonly folder: string;
  /** Above it, the least recently used sets are removed. */
  readonly maxBytes: number;
  /** Of installers, which take no place of a run's (SPEC LI4). */
  readonly sandboxes: Sandboxes;
  readonly network: Pick<NetworkAccess, "grant">;
  /** Images whose tools the operator trusts with what everybody uses: those of the settings. */
  readonly configuredImages: readonly string[];
  readonly policy: InstallPolicy;
  /** Null: nothing is installed where no sandbox can be had (SPEC PK2). */
  readonly onHost: HostInstalling | null;
  /** Of one installation. */
  readonly limits: Limits;
  readonly uid: number | null;
  readonly identity: ProcessIdentity;
}

/** Installing on this machine itself, for programs at isolation `preload`. */
export interface HostInstalling {
  /** An engine of that isolation which runs the tools that install. */
  readonly engine: () => Promise<Engine>;
  readonly registries: () => Promise<HostRegistries>;
}

/** Packages for one sandbox. */
export interface PackagesRequest {
  readonly engine: Engine;
  readonly capabilities: Capabilities;
  /** The image that will use them: it installs them, too. */
  readonly image: string;
  /** What the run itself may reach. */
  readonly runNetwork: NetworkPolicy;
  readonly ociRuntime: string | undefined;
  readonly interpreter: RuntimeName;
  readonly ecosystem: Ecosystem;
  /** As `checkPackages` gives them. */
  readonly specs: readonly string[];
  /** Some of them the program may do without: a list that has just failed is not tried again; default false. */
  readonly isGuess?: boolean | undefined;
}

/** Who installs, and how. */
interface Workshop {
  readonly engine: Engine;
  readonly onHost: boolean;
  readonly runTool: RunTool;
}

/** Receives each step, for people, before it begins. */
export type OnPackageProgress = (message: string) => void;

/** Gives sandboxes the packages that they ask for, out of the cache or freshly installed. */
export class Packages {
  readonly #options: PackagesOptions;
  readonly #cache: PackageCache;
  readonly #installers: FindInstaller;
  readonly #installSet: InstallSet;
  readonly #failures: RecentFailures;
  /** Dependencies of projects. */
  readonly projects: ProjectSets;

  constructor(options: PackagesOptions) {
    this.#options = options;
    this.#cache = new PackageCache(options);
    this.#failures = new RecentFailures(options.now);
    this.#installers = new FindInstaller({ ...options, folder: path.join(options.folder, "platforms") });
    const [cache, installers] = [this.#cache, this.#installers];
    const prune = (): Promise<unknown> => this.prune();
    this.#installSet = new InstallSet({ ...options, cache, prune });
    this.projects = new ProjectSets({ ...options, cache, installers, prune });
  }

  /**
   * Installs what the cache does not have, all in one go; what it has costs no network, also as part of another list
   * (SPEC PK2).
   * @throws PACKAGE_INSTALL_FAILED, POLICY_DENIED for what the operator does not let be fetched, and when the caller's own
   * image would reach the registries for a run that may not, CANCELLED, and what opening a sandbox throws
   */
  async provide(request: PackagesRequest, caller: Caller, onProgress: OnPackageProgress): Promise<ProvidedPackages> {
    const { ecosystem, specs } = request;
    assertPackagesAllowed(specs, ecosystem, this.#options.policy);
    const workshop = await this.#workshopFor(request, caller.principal);
    const image = await workshop.engine.images.identity(request.image, { signal: caller.signal });
    const { manager, platform } = await this.#installers.find({ ...request, ...workshop, image }, caller);
    if (manager === null) throw noManager(request);
    const { engine, onHost } = workshop;
    const principal = this.#isConfigured(request) ? null : caller.principal;
    const key = {
      ...{ ecosystem, manager, platform, requested: specs },
      origin: { engine: engine.name, image, onHost, principal },
    } satisfies PackageSetKey;
    const install = (): Promise<PackageSetLease> =>
      this.#installSet.install(key, { ...request, ...workshop }, { caller, onProgress });
    const lease =
      (await this.#cache.find(key)) ??
      (request.isGuess === true ? await this.#failures.unlessRecent(packageSetId(key), install) : await install());
    try {
      const names = lease.record.packages.map(({ name }) => name);
      assertNoneDenied(names, ecosystem, this.#options.policy);
    } catch (error) {
      await lease[Symbol.asyncDispose]();
      throw error;
    }
    const warnings = workshop.onHost ? [outsideWarning] : [];
    return provided(lease, { ecosystem, warnings, hold: () => this.#hold(key) });
  }

  async #hold(key: PackageSetKey): Promise<AsyncDisposable> {
    const lease = await this.#cache.find(key);
    if (lease === null) throw new GloveboxError("NOT_FOUND", "The packages have been removed from the cache.");
    return lease;
  }

  /** Those of the imported packages that the image has not by itself. @throws what opening a sandbox throws */
  async notOfImage(
    request: Omit<PackagesRequest, "specs">,
    { needed, optional }: ImportedPackages,
    caller: Caller,
  ): Promise<ImportedPackages> {
    const workshop = await this.#workshopFor({ ...request, specs: [...needed, ...optional] }, caller.principal);
    const image = await workshop.engine.images.identity(request.image, { signal: caller.signal });
    const { own } = await this.#installers.find({ ...request, ...workshop, image }, caller);
    const has = new Set(own.map((name) => usualName(name, request.ecosystem)));
    const isMissing = (spec: string): boolean => !has.has(packageName(spec, request.ecosystem));
    const missing = { needed: needed.filter(isMissing), optional: optional.filter(isMissing) };
    // What is installed for npm takes the place of the image's own folder.
    const isWhole = request.ecosystem === "npm" && missing.needed.length + missing.optional.length > 0;
    return isWhole ? { needed, optional } : missing;
  }

  /** Whether there is a place to install for such sandboxes, and it may be used for such a run. */
  installsFor(request: Pick<PackagesRequest, "capabilities" | "image" | "runNetwork">): boolean {
    const hasPlace = isWall(request.capabilities.isolation) || this.#options.onHost !== null;
    return hasPlace && (this.#isConfigured(request) || includesRegistries(request.runNetwork));
  }

  /** An empty folder of packages for a sandbox that will get more of them during its life. */
  async openView(): Promise<PackageView> {
    return PackageView.open(path.join(await this.#cache.open(), viewsName));
  }

  list(): Promise<readonly CachedSet[]> {
    return this.#cache.list();
  }

  /** Removes the least recently used sets, except those in use, until the rest fits the size; default: the limit. */
  async prune(maxBytes: number = this.#options.maxBytes): Promise<readonly CachedSet[]> {
    await PackageView.sweep(path.join(await this.#cache.open(), viewsName));
    return this.#cache.prune(maxBytes);
  }

  /** Whether it is the operator who chose what installs. */
  #isConfigured({ capabilities, image }: Pick<PackagesRequest, "capabilities" | "image">): boolean {
    return !capabilities.images || this.#options.configuredImages.includes(image);
  }

  async #workshopFor({ engine, capabilities, specs }: PackagesRequest, principal: string): Promise<Workshop> {
    if (isWall(capabilities.isolation)) {
      return { engine, onHost: false, runTool: runSealedTool(this.#options.network, principal) };
    }
    const { onHost } = this.#options;
    if (onHost === null) throw refusedOnHost(specs, capabilities.isolation);
    return { engine: await onHost.engine(), onHost: true, runTool: runHostTool(onHost) };
  }
}

const viewsName = "views";

const outsideWarning =
  "isolation preload: the packages were installed outside a sandbox, by a tool that had this machine's network and files, and without their install scripts.";

function noManager({ ecosystem, specs, image, capabilities }: PackagesRequest): GloveboxError {
  const tool = ecosystem === "python" ? "pip" : "bun or npm";
  const where = capabilities.images ? `the image ${image}` : "this host";
  return installFailed(specs, `${where} has no ${tool}`, {
    suggestion: capabilities.images
      ? `Name an image that has ${tool}, or that has the packages.`
      : `Install ${tool} on the host, or use an engine with images.`,
  });
}
