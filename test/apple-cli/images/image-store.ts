import type { ImageFacts } from "../container/configuration.ts";
import { DockerError, type DockerApi } from "../docker/docker-api.ts";
import { readReference, type Reference } from "./reference.ts";

/** An existing image. */
export interface StoredImage extends ImageFacts {
  /** Docker's id. */
  readonly id: string;
  readonly createdMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether this installation has fetched or made it, and so may remove it. */
  readonly isOwn: boolean;
  readonly layers: readonly string[];
}

interface DockerImage {
  readonly Id: string;
  readonly Size: number;
  readonly Created: string;
  readonly RepoTags: readonly string[] | null;
  readonly RootFS: { readonly Layers?: readonly string[] };
  readonly Config: {
    readonly Env: readonly string[] | null;
    readonly Entrypoint: readonly string[] | null;
    readonly Cmd: readonly string[] | null;
    readonly WorkingDir: string;
    readonly User: string;
    readonly StopSignal?: string;
    readonly Labels: Readonly<Record<string, string>> | null;
  };
}

/**
 * Images of one installation: its own have separate names on Docker, so that other tests may fetch and remove the same ones.
 * Docker's other images are visible too, unless their name says that they come from a registry other than Docker's.
 */
export class ImageStore {
  readonly #api: DockerApi;
  readonly #prefix: string;

  constructor(api: DockerApi, scope: string) {
    this.#api = api;
    this.#prefix = `apple-cli-${scope}/`;
  }

  /** Docker's name for an image of this installation. */
  ownName({ host, path, tag }: Reference): string {
    return `${this.#prefix}${host.replace(":", "_")}/${path}:${tag ?? "latest"}`;
  }

  async find(text: string): Promise<StoredImage | undefined> {
    const reference = readReference(text);
    const own = await this.#inspect(reference, this.ownName(reference), true);
    if (own !== undefined || reference.host !== "docker.io") return own;
    return this.#inspect(reference, `${reference.path.replace(/^library\//, "")}:${reference.tag ?? "latest"}`, false);
  }

  /** Full references of all images. */
  async references(): Promise<readonly string[]> {
    const rows = await this.#api.json<readonly { RepoTags: readonly string[] | null }[]>("GET", "/images/json");
    const all = rows.flatMap(({ RepoTags }) => RepoTags ?? []).flatMap((tag) => this.#referenceOf(tag));
    return [...new Set(all)].toSorted();
  }

  async tag(id: string, reference: Reference): Promise<void> {
    const [repo = "", tag = ""] = this.ownName(reference).split(/:(?=[^:]*$)/);
    await this.#api.json("POST", `/images/${id}/tag?repo=${encodeURIComponent(repo)}&tag=${tag}`);
  }

  async untag(reference: Reference): Promise<void> {
    await this.#api.json("DELETE", `/images/${encodeURIComponent(this.ownName(reference))}`);
  }

  #referenceOf(tag: string): readonly string[] {
    if (tag === "<none>:<none>") return [];
    if (!tag.startsWith(this.#prefix)) {
      const isElsewhere = /^[^/]*[.:][^/]*\//.test(tag) || tag.startsWith("apple-cli-");
      return isElsewhere ? [] : [readReference(tag).full];
    }
    const [host = "", ...rest] = tag.slice(this.#prefix.length).split("/");
    return [`${host.replace("_", ":")}/${rest.join("/")}`];
  }

  async #inspect(reference: Reference, name: string, isOwn: boolean): Promise<StoredImage | undefined> {
    try {
      const image = await this.#api.json<DockerImage>("GET", `/images/${encodeURIComponent(name)}/json`);
      if (reference.digest !== undefined && reference.digest !== image.Id) return undefined;
      return imageOf(reference, image, isOwn);
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return undefined;
      throw error;
    }
  }
}

function imageOf(reference: Reference, image: DockerImage, isOwn: boolean): StoredImage {
  const { Config: config } = image;
  return {
    id: image.Id,
    reference: reference.full,
    digest: image.Id,
    sizeBytes: image.Size,
    createdMs: Date.parse(image.Created),
    labels: config.Labels ?? {},
    isOwn,
    layers: image.RootFS.Layers ?? [],
    environment: config.Env ?? [],
    entrypoint: config.Entrypoint ?? [],
    command: config.Cmd ?? [],
    workingDirectory: config.WorkingDir,
    user: config.User,
    stopSignal: config.StopSignal,
  };
}
