import {
  buildImagesContract,
  listImagesContract,
  pullImagesContract,
  type ImageRow,
  type BuildImagesRequest,
  type ImagesRequest,
  type PullImagesRequest,
} from "../../operations/images/images-contract.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountRequest,
  type CheckMountResponse,
  type ListMountsResponse,
} from "../../operations/mounts/mounts-contract.ts";
import {
  listPackagesContract,
  prunePackagesContract,
  type ListPackagesResponse,
  type PrunePackagesRequest,
  type PrunePackagesResponse,
} from "../../operations/packages/packages-contract.ts";
import type { Calls, CallOptions } from "./calls.ts";
import type { Camel } from "./forms/camel.ts";

/** The default images of this machine's deployment. */
export class Images {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Whether the engine has them; reaches no registry. */
  async list(options: Camel<ImagesRequest> = {}, call?: CallOptions): Promise<readonly Camel<ImageRow>[]> {
    return (await this.#calls.send(listImagesContract, options, call)).images;
  }

  /** Gets those that are missing, or the named ones. */
  async pull(options: Camel<PullImagesRequest> = {}, call?: CallOptions): Promise<readonly Camel<ImageRow>[]> {
    return (await this.#calls.send(pullImagesContract, options, call)).images;
  }

  /** Builds the named images of Glovebox's own anew; by default that of sessions. */
  async build(options: Camel<BuildImagesRequest> = {}, call?: CallOptions): Promise<readonly Camel<ImageRow>[]> {
    return (await this.#calls.send(buildImagesContract, options, call)).images;
  }
}

/** Installed packages that are kept for later runs. */
export class PackageCache {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  list(call?: CallOptions): Promise<Camel<ListPackagesResponse>> {
    return this.#calls.send(listPackagesContract, {}, call);
  }

  /** Removes those not used for longest, never one that a run uses. */
  prune(options: Camel<PrunePackagesRequest> = {}, call?: CallOptions): Promise<Camel<PrunePackagesResponse>> {
    return this.#calls.send(prunePackagesContract, options, call);
  }
}

/** Which folders of this machine sandboxes may get. */
export class Mounts {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  list(call?: CallOptions): Promise<Camel<ListMountsResponse>> {
    return this.#calls.send(listMountsContract, {}, call);
  }

  /** What the mount gate says about a path, by which rule, and what would allow it. */
  check(options: Camel<CheckMountRequest>, call?: CallOptions): Promise<Camel<CheckMountResponse>> {
    return this.#calls.send(checkMountContract, options, call);
  }
}
