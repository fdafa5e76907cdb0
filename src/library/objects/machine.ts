import { buildImagesContract, listImagesContract, pullImagesContract } from "../../operations/images-contract.ts";
import { checkMountContract, listMountsContract } from "../../operations/mounts-contract.ts";
import { listPackagesContract, prunePackagesContract } from "../../operations/packages-contract.ts";
import type { CallOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type {
  BuildImagesOptions,
  CheckMountOptions,
  ListImagesOptions,
  PrunePackagesOptions,
  PullImagesOptions,
} from "./generated/options.ts";
import type { ImageRow, MountAnswer, MountList, PackageList, PrunedPackages } from "./generated/results.ts";

/** The default images of this machine's deployment. */
export class Images {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Whether the engine has them; contacts no registry. */
  async list(options: ListImagesOptions = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#calls.send(listImagesContract, options, call)).images;
  }

  /** Pulls or builds those that are missing, or the named ones. */
  async pull(options: PullImagesOptions = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#calls.send(pullImagesContract, options, call)).images;
  }

  /** Rebuilds the named images of Glovebox's own; default: that of sessions. */
  async build(options: BuildImagesOptions = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#calls.send(buildImagesContract, options, call)).images;
  }
}

/** Manage the cache of installed packages. */
export class PackageCache {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  list(call?: CallOptions): Promise<PackageList> {
    return this.#calls.send(listPackagesContract, {}, call);
  }

  /** Removes the least recently used ones, never one in use. */
  prune(options: PrunePackagesOptions = {}, call?: CallOptions): Promise<PrunedPackages> {
    return this.#calls.send(prunePackagesContract, options, call);
  }
}

/** Which folders of this machine sandboxes may get. */
export class Mounts {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  list(call?: CallOptions): Promise<MountList> {
    return this.#calls.send(listMountsContract, {}, call);
  }

  /** What the mount gate says about a path, by which rule, and what would allow it. */
  check(options: CheckMountOptions, call?: CallOptions): Promise<MountAnswer> {
    return this.#calls.send(checkMountContract, options, call);
  }
}
