import { throwIfCancelled } from "../../base/abort.ts";
import type { CallOptions, ImageStore, ImageSummary, PullOptions } from "../engine.ts";
import { imageUnavailable } from "../image-errors.ts";
import { noBuild, noRemoval } from "./pod-terms.ts";

/** What a pod has shown of its image. */
export interface TriedImage {
  /** As the node names it. */
  readonly identity: string;
  /** Folders of it that would lie on the node's disk. */
  readonly volumes: readonly string[];
}

export interface PodImagesParts {
  /** Whether none may be pulled: an image that is missing is told of at the start. */
  readonly prebuiltOnly: boolean;
  /** Has a pod pull it, in which nothing of it runs. */
  readonly tryImage: (image: string, options: CallOptions) => Promise<TriedImage>;
}

/**
 * The cluster's images. Its nodes do not tell who may only make pods what they have: an image is there when a pod of this server has
 * had it.
 */
export class PodImages implements ImageStore {
  readonly #parts: PodImagesParts;
  /** What each name led to when it was last seen. */
  readonly #identities = new Map<string, string>();
  readonly #volumes = new Map<string, readonly string[]>();

  constructor(parts: PodImagesParts) {
    this.#parts = parts;
  }

  /** Folders that the image declares as volumes, as far as its pods have shown them. */
  volumesOf(reference: string): readonly string[] {
    return this.#volumes.get(reference) ?? [];
  }

  /** Has them covered in the next pods of the image. */
  learnVolumes(reference: string, folders: readonly string[]): void {
    this.#volumes.set(reference, [...new Set([...this.volumesOf(reference), ...folders])]);
  }

  async has(reference: string, { signal }: CallOptions = {}): Promise<boolean> {
    throwIfCancelled(signal);
    return this.#parts.prebuiltOnly || this.#identities.has(reference);
  }

  async identity(reference: string, { signal }: CallOptions = {}): Promise<string> {
    throwIfCancelled(signal);
    const known = this.#identities.get(reference);
    if (known !== undefined) return known;
    if (!this.#parts.prebuiltOnly) throw imageUnavailable(reference, "no pod has had it yet");
    await this.#try(reference, { signal });
    return this.#identities.get(reference) ?? reference;
  }

  async pull(reference: string, { signal, onProgress }: PullOptions = {}): Promise<void> {
    onProgress?.({ status: "a node pulls it", currentBytes: null, totalBytes: null });
    await this.#try(reference, { signal });
  }

  build({ reference }: { readonly reference: string }): Promise<never> {
    return Promise.reject(noBuild(reference));
  }

  remove(reference: string): Promise<never> {
    return Promise.reject(noRemoval(reference));
  }

  /** Not told by the cluster: nothing of ours is among its images. */
  async labels(reference: string, options: CallOptions = {}): Promise<Readonly<Record<string, string>>> {
    await this.identity(reference, options);
    return {};
  }

  async list(
    _labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ImageSummary[]> {
    throwIfCancelled(signal);
    return [];
  }

  async #try(reference: string, { signal }: CallOptions): Promise<void> {
    throwIfCancelled(signal);
    const { identity, volumes } = await this.#parts.tryImage(reference, { signal });
    this.#volumes.set(reference, volumes);
    this.#identities.set(reference, identity);
  }
}
