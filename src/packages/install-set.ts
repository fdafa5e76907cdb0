import { mkdir } from "node:fs/promises";
import { formatBytes } from "../base/bytes.ts";
import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { InstallPolicy } from "../policy/install-policy.ts";
import type { Limits } from "../policy/limits/limits.ts";
import type { NetworkPolicy } from "../policy/network/network.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import type { PackageCache, PackageSetLease } from "./cache/package-cache.ts";
import type { PackageSetKey } from "./cache/package-set.ts";
import { removeSealed } from "./cache/sealed-folder.ts";
import { chooseParts, composeSet } from "./compose-set.ts";
import { install, ownBytes, setBounds, type Installation, type RunTool } from "./install/install.ts";
import type { MinAge } from "./install/min-age.ts";
import type { PackageManager } from "./install/package-manager.ts";
import type { Unpacked } from "./install/unpack.ts";
import { describeInstalled } from "./installed-specs.ts";

export interface InstallSetOptions {
  readonly cache: PackageCache;
  /** Those of installers, which take no place of a run's. */
  readonly sandboxes: Sandboxes;
  readonly policy: InstallPolicy;
  /** Of one installation. */
  readonly limits: Limits;
  /** Makes room after a set was added. */
  readonly prune: () => Promise<unknown>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What installs a list, and for what. */
export interface InstallSetRequest extends Pick<Installation, "engine" | "ociRuntime" | "interpreter"> {
  /** As the caller named it. */
  readonly image: string;
  /** What the run itself may reach. */
  readonly runNetwork: NetworkPolicy;
  readonly runTool: RunTool;
}

export type InstallSetKey = PackageSetKey & { readonly manager: PackageManager };

export interface Told {
  readonly caller: Caller;
  /** Receives each step, for people, before it begins. */
  readonly onProgress: (message: string) => void;
}

/** Installs lists of packages into the cache, each package of them once. */
export class InstallSet {
  readonly #options: InstallSetOptions;

  constructor(options: InstallSetOptions) {
    this.#options = options;
  }

  /**
   * A list that the cache does not have. If it has shorter ones that are part of it, only the rest is installed, and the
   * set is made of all of them; if they do not go together, the whole list is installed.
   * @throws PACKAGE_INSTALL_FAILED, POLICY_DENIED, CANCELLED, and what opening a sandbox throws
   */
  async install(key: InstallSetKey, request: InstallSetRequest, told: Told): Promise<PackageSetLease> {
    const { cache, limits, logger, prune } = this.#options;
    await using parts = await this.#parts(key, request, told);
    const lease = await cache.install(
      key,
      async (folder) => {
        const bounds = { ecosystem: key.ecosystem, ...setBounds, maxBytes: limits.diskBytes };
        const composed = parts.sets.length > 0 ? await composeSet(folder, parts.sets, bounds) : null;
        if (composed !== null) return { ...composed, bytes: composed.bytes + ownBytes };
        // What a composition that failed has left.
        await removeSealed(folder);
        await mkdir(folder);
        return this.#installWhole(folder, key, request, told);
      },
      {
        signal: told.caller.signal,
        onWait: () => told.onProgress(`Waiting for another installation of ${key.requested.join(", ")}`),
      },
    );
    await prune().catch((error: unknown) => logger.warn({ err: error }, "the package cache could not be pruned"));
    return lease;
  }

  /**
   * Sets that make up the list, none when there is no part of it yet. What is missing is installed as a list of its own
   * before anybody takes this list's lock: who holds one lock never waits for another.
   */
  async #parts(key: InstallSetKey, request: InstallSetRequest, told: Told): Promise<HeldSets> {
    const { cache } = this.#options;
    const records = (await cache.list()).map(({ record }) => record);
    const { kept, missing } = chooseParts(key, records);
    const held = new HeldSets();
    try {
      const found = await Promise.all(kept.map(async (part) => held.add(await cache.find(part))));
      if (found.length === 0 || found.includes(null)) return await held.without();
      if (missing.length === 0) return held;
      const rest = { ...key, requested: missing };
      held.add((await cache.find(rest)) ?? (await this.install(rest, request, told)));
      return held;
    } catch (error) {
      await held.without();
      throw error;
    }
  }

  async #installWhole(
    folder: string,
    key: InstallSetKey,
    request: InstallSetRequest,
    { caller, onProgress }: Told,
  ): Promise<Unpacked> {
    const { requested: specs, origin } = key;
    if (origin.principal !== null) assertRegistriesAllowed(request, specs);
    onProgress(`Installing ${specs.join(", ")}`);
    const filled = await install(
      // The image by its digest: what its name stands for may change at any moment.
      { ...request, ...key, specs, image: origin.image, folder, minAge: this.#minAge(), onNote: onProgress },
      { ...this.#options, runTool: request.runTool },
      caller,
    );
    const installed = describeInstalled({ ...key, packages: filled.packages });
    onProgress(`Installed ${installed}: ${filled.files} files, ${formatBytes(filled.bytes)}`);
    return filled;
  }

  #minAge(): MinAge | null {
    const { policy, now } = this.#options;
    if (policy.minAgeMs === 0) return null;
    return { ms: policy.minAgeMs, beforeMs: now() - policy.minAgeMs, isDemanded: policy.isMinAgeDemanded };
  }
}

/** Sets that stay in the cache until this is disposed of. */
class HeldSets implements AsyncDisposable {
  readonly sets: PackageSetLease[] = [];

  add(lease: PackageSetLease | null): PackageSetLease | null {
    if (lease !== null) this.sets.push(lease);
    return lease;
  }

  /** Lets go of all. */
  async without(): Promise<this> {
    await Promise.all(this.sets.splice(0).map((set) => set[Symbol.asyncDispose]()));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.without();
  }
}

export function includesRegistries({ kind }: NetworkPolicy): boolean {
  return kind === "registries" || kind === "open";
}

/** An installer has the registries, and an image is code. @throws POLICY_DENIED */
function assertRegistriesAllowed({ image, runNetwork }: InstallSetRequest, specs: readonly string[]): void {
  if (includesRegistries(runNetwork)) return;
  throw new GloveboxError(
    "POLICY_DENIED",
    `Installing ${specs.join(", ")} with the tools of ${image} would let that image reach the package registries, which the run's network policy excludes.`,
    {
      suggestion:
        'Ask for network: "registries", leave the image out, or have the operator make it one of the images of the settings (`images`).',
      context: { field: "packages", image, network: runNetwork.kind, setting: "images" },
    },
  );
}
