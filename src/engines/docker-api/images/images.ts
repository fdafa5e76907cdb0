import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { BuildOptions, CallOptions, ImageBuild, ImageStore, ImageSummary, PullOptions } from "../../engine.ts";
import type { Api } from "../http/api.ts";
import { BuildLines, type BuildLine } from "./build-lines.ts";
import type { InfoAnswer } from "../engine-capabilities.ts";
import { refusalReason } from "../http/api-error.ts";
import { imagePath, parseImageReference } from "./image-reference.ts";
import { jsonLines } from "../http/json-lines.ts";
import { isMadeImage, type ListedImage } from "./made-images.ts";
import { createPullProgress, pullFailure, type PullLine } from "./pull-progress.ts";
import { registryAuthHeader } from "./registry-auth.ts";

/** Text of the client's `config.json`, where registry credentials are; null when there is none. */
export type ReadClientConfig = () => Promise<string | null>;

/** What is read of a present image. */
export interface ImageFacts {
  /** Identifies it alone, whatever happens to its tags. */
  readonly id: string;
  /** Paths that it declares as volumes. */
  readonly volumes: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

interface ImageAnswer {
  readonly Id: string;
  readonly Config?: {
    readonly Volumes?: object | null;
    readonly Labels?: Readonly<Record<string, string>> | null;
  } | null;
}

/** How long a container may be made from an image as it was found. */
const freshMs = 1_000;

/** The images of an engine behind Docker's API. */
export class DockerApiImages implements ImageStore {
  readonly #api: Api;
  readonly #readClientConfig: ReadClientConfig;
  /** Found a moment ago, by their references. */
  readonly #fresh = new Map<string, ImageFacts>();

  constructor(api: Api, readClientConfig: ReadClientConfig) {
    this.#api = api;
    this.#readClientConfig = readClientConfig;
  }

  async has(reference: string, options?: CallOptions): Promise<boolean> {
    return (await this.#look(reference, options)) !== null;
  }

  /** @throws IMAGE_UNAVAILABLE when it is not present */
  async facts(reference: string, options?: CallOptions): Promise<ImageFacts> {
    const found = await this.#look(reference, options);
    if (found === null) throw imageUnavailable(reference, "it is not present and has not been pulled");
    return found;
  }

  /**
   * What `has`, `identity` or `labels` found less than a second ago; undefined: ask again. Given only once, so that
   * each container is made from what was looked up for it, and to be used by its id: the reference may have moved
   * since.
   */
  takeFresh(reference: string): ImageFacts | undefined {
    const found = this.#fresh.get(reference);
    this.#fresh.delete(reference);
    return found;
  }

  async identity(reference: string, options?: CallOptions): Promise<string> {
    return (await this.facts(reference, options)).id;
  }

  /** Null: it is not present. */
  async #look(reference: string, { signal }: CallOptions = {}): Promise<ImageFacts | null> {
    this.#fresh.delete(reference);
    const request = { method: "GET", path: imagePath(reference, "json"), signal } as const;
    const { status, body } = await this.#api.call("look for the image", request, [404]);
    if (status === 404) return null;
    const { Id: id, Config: config } = body as ImageAnswer;
    const found = { id, volumes: Object.keys(config?.Volumes ?? {}), labels: config?.Labels ?? {} };
    this.#fresh.set(reference, found);
    const forget = (): void => void (this.#fresh.get(reference) === found && this.#fresh.delete(reference));
    setTimeout(forget, freshMs).unref();
    return found;
  }

  async pull(reference: string, { signal, onProgress }: PullOptions = {}): Promise<void> {
    this.#fresh.clear();
    const { name, tag, registry } = parseImageReference(reference);
    const auth = await this.#auth(registry, signal);
    const answer = await this.#api.stream(
      "pull the image",
      {
        method: "POST",
        path: "/images/create",
        query: { fromImage: name, tag },
        headers: auth === null ? {} : { "X-Registry-Auth": auth },
        signal,
      },
      "any",
    );
    if (!("chunks" in answer)) throw imageUnavailable(reference, refusalReason(answer));
    const progress = createPullProgress();
    let failure: string | null = null;
    for await (const line of jsonLines(answer.chunks)) {
      failure ??= pullFailure(line as PullLine);
      if (failure === null) onProgress?.(progress(line as PullLine));
    }
    if (failure !== null) throw imageUnavailable(reference, failure);
  }

  async build(build: ImageBuild, { signal, onLine }: BuildOptions = {}): Promise<void> {
    const { reference } = build;
    this.#fresh.clear();
    const answer = await this.#api.stream(
      "build the image",
      {
        method: "POST",
        path: "/build",
        query: {
          t: reference,
          buildargs: JSON.stringify(build.arguments),
          labels: JSON.stringify(build.labels),
          rm: "1",
          forcerm: "1",
        },
        archive: build.context,
        signal,
      },
      "any",
    );
    if (!("chunks" in answer)) throw imageUnavailable(reference, refusalReason(answer));
    const lines = new BuildLines();
    for await (const line of jsonLines(answer.chunks)) {
      for (const told of lines.add(line as BuildLine)) onLine?.(told);
    }
    if (lines.failure !== null) throw imageUnavailable(reference, lines.failure);
    // Some engines end the stream of a failed build without a word.
    if (!(await this.has(reference, { signal }))) throw imageUnavailable(reference, "the build gave no image");
  }

  async *save(reference: string, { signal }: CallOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const request = { method: "GET", path: imagePath(reference, "get"), signal } as const;
    const answer = await this.#api.stream("export the image", request, "any");
    if (!("chunks" in answer)) throw imageUnavailable(reference, refusalReason(answer));
    yield* answer.chunks;
  }

  async load(reference: string, archive: AsyncIterable<Uint8Array>, { signal }: CallOptions = {}): Promise<void> {
    this.#fresh.clear();
    const request = { method: "POST", path: "/images/load", query: { quiet: "1" }, archive, signal } as const;
    const answer = await this.#api.stream("import the image", request, "any");
    if (!("chunks" in answer)) throw imageUnavailable(reference, refusalReason(answer));
    let failure: string | null = null;
    for await (const line of jsonLines(answer.chunks)) failure ??= pullFailure(line as PullLine);
    if (failure !== null) throw imageUnavailable(reference, failure);
    if (!(await this.has(reference, { signal }))) await this.#nameAs(reference, signal);
  }

  /** Another engine may have written the name with a registry that means this machine, or the default one. */
  async #nameAs(reference: string, signal: AbortSignal | undefined): Promise<void> {
    const { name, tag } = parseImageReference(reference);
    for (const registry of ["localhost", "docker.io/library", "docker.io"]) {
      const other = `${registry}/${name}:${tag}`;
      if (!(await this.has(other, { signal }))) continue;
      const query = { repo: name, tag };
      await this.#api.call("name the image", { method: "POST", path: imagePath(other, "tag"), query, signal });
      return;
    }
    throw imageUnavailable(reference, "the archive gave no image of that name");
  }

  async labels(reference: string, options?: CallOptions): Promise<Readonly<Record<string, string>>> {
    return (await this.facts(reference, options)).labels;
  }

  async remove(reference: string, { signal }: CallOptions = {}): Promise<void> {
    this.#fresh.clear();
    await this.#api.call(
      "remove the image",
      { method: "DELETE", path: imagePath(reference), query: { force: "1" }, signal },
      [404],
    );
  }

  async list(labels: Readonly<Record<string, string>>, { signal }: CallOptions = {}): Promise<readonly ImageSummary[]> {
    const wanted = Object.entries(labels);
    // Podman 4.3 finds nothing by more than one label, so the others are looked at here.
    const label = wanted.slice(0, 1).map(([name, value]) => `${name}=${value}`);
    const query = { filters: JSON.stringify({ label }) };
    const { body } = await this.#api.call("list images", { method: "GET", path: "/images/json", query, signal });
    return ((body ?? []) as readonly ListedImage[])
      .filter(isMadeImage)
      .map(({ Id: id, Labels: own }) => ({ id, labels: own ?? {} }))
      .filter((image) => wanted.every(([name, value]) => image.labels[name] === value))
      .map((image) => ({ ...image, remove: (options) => this.#removeUnused(image.id, options) }));
  }

  async #removeUnused(id: string, { signal }: CallOptions = {}): Promise<boolean> {
    this.#fresh.clear();
    // With force, Podman would remove the containers with it.
    const request = { method: "DELETE", path: imagePath(id), signal } as const;
    const { status } = await this.#api.call("remove the image", request, [404, 409]);
    return status !== 409;
  }

  async #auth(registry: string | null, signal: AbortSignal | undefined): Promise<string | null> {
    const config = await this.#readClientConfig();
    if (config === null) return null;
    if (registry !== null) return registryAuthHeader(config, registry);
    const { body } = await this.#api.call("ask for the default registry", { method: "GET", path: "/info", signal });
    return registryAuthHeader(config, (body as InfoAnswer).IndexServerAddress ?? "");
  }
}

function imageUnavailable(reference: string, reason: string): GloveboxError {
  return new GloveboxError("IMAGE_UNAVAILABLE", `Image ${reference} is not available: ${reason}.`, {
    context: { image: reference, reason },
  });
}
