import type { PackageInterpreter } from "./install/package-interpreter.ts";
import { isWall } from "../policy/isolation.ts";
import path from "node:path";
import type { Logger } from "../base/logger.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Limits } from "../policy/limits/limits.ts";
import type { NetworkPolicy } from "../policy/network/network.ts";
import { packageName, type Ecosystem } from "../policy/package-specs.ts";
import type { ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import { FindInstaller } from "./install/find-installer.ts";
import type { RunTool } from "./install/install.ts";
import { installFailed, refusedOnHost } from "./install/install-failed.ts";
import { assertNoneDenied, assertPackagesAllowed, type InstallPolicy } from "../policy/install-policy.ts";
import { PackageCache, type CachedSet, type PackageSetLease } from "./cache/package-cache.ts";
import { packageSetId, type PackageSetKey } from "./cache/package-set.ts";
import { includesRegistries, InstallSet } from "./install-set.ts";
import { usualName } from "./installed-specs.ts";
import type { ImportedPackages } from "./imports/scan-request.ts";
import { RecentFailures } from "./install/recent-failures.ts";
import { PackageView } from "./cache/package-view.ts";
import { provided, type ProvidedPackages } from "./provided-packages.ts";
import { ProjectSets } from "./project-sets.ts";
import { runHostTool, type HostRegistries } from "./install/run-host-tool.ts";
import { runSealedTool } from "./install/run-sealed-tool.ts";

export interface PackagesOptions {
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
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
  readonly interpreter: PackageInterpreter;
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
