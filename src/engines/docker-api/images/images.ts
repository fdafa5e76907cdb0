import { defaultRegistry, parseImageReference } from "../../../policy/image-reference.ts";
import type {
  BuildOptions,
  CallOptions,
  EngineName,
  ImageBuild,
  ImageStore,
  ImageSummary,
  PullOptions,
} from "../../engine.ts";
import type { Api } from "../http/api.ts";
import { BuildLines, type BuildLine } from "./build-lines.ts";
import type { InfoAnswer } from "../engine-capabilities.ts";
import { refusalReason } from "../http/api-error.ts";
import { assertNotPrepared, imageUnavailable, noAnonymousPull } from "../../images/image-errors.ts";
import { pullFailed } from "../../images/pull-failure.ts";
import { bears, imagePath, wholeNames, type NamedImage } from "./image-names.ts";
import { jsonLines } from "../http/json-lines.ts";
import { isMadeImage, programUidOf, type ListedImage } from "./made-images.ts";
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
  /** Variables that it gives to every program, as it declares them. */
  readonly environment: Readonly<Record<string, string>>;
  /** The user that owns what programs wrote to the container that it was made of; null where it was made of none of ours. */
  readonly programUid: number | null;
  readonly labels: Readonly<Record<string, string>>;
}

interface ImageAnswer extends NamedImage {
  readonly Config?: {
    readonly Volumes?: object | null;
    readonly Env?: readonly string[] | null;
    readonly Labels?: Readonly<Record<string, string>> | null;
  } | null;
}

/** How long a container may be made from an image as it was found. */
const freshMs = 1_000;

export interface DockerApiImagesOptions {
  readonly api: Api;
  /** Of `Dialect`. */
  readonly dialect: {
    readonly name: EngineName;
    readonly namesLocalBuilds: boolean;
    readonly pullsAnonymously: boolean;
  };
  readonly readClientConfig: ReadClientConfig;
}

/**
 * The images of an engine behind Docker's API. It finds images by beginnings of ids, short names and aliases; here only
 * the whole name counts, and no name leads to an image that Glovebox prepared.
 */
export class DockerApiImages implements ImageStore {
  readonly #options: DockerApiImagesOptions;
  readonly #api: Api;
  /** Found a moment ago, by their references. */
  readonly #fresh = new Map<string, ImageFacts>();

  constructor(options: DockerApiImagesOptions) {
    this.#options = options;
    this.#api = options.api;
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

  /** Null: it is not present. @throws POLICY_DENIED for a name of an image that Glovebox prepared */
  async #look(reference: string, { signal }: CallOptions = {}): Promise<ImageFacts | null> {
    this.#fresh.delete(reference);
    const found = await this.#find(reference, signal);
    if (found === null) return null;
    const { facts } = found;
    // An id is our own handle, or one that was checked when it was named.
    if (parseImageReference(reference).kind === "name") assertNotPrepared(reference, facts.labels);
    this.#fresh.set(reference, facts);
    const forget = (): void => void (this.#fresh.get(reference) === facts && this.#fresh.delete(reference));
    setTimeout(forget, freshMs).unref();
    return facts;
  }

  async #find(
    reference: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly wholeName: string; readonly facts: ImageFacts } | null> {
    for (const wholeName of wholeNames(reference, this.#options.dialect.namesLocalBuilds)) {
      const request = { method: "GET", path: imagePath(wholeName, "json"), signal } as const;
      const { status, body } = await this.#api.call("look for the image", request, [404]);
      if (status === 404 || !bears(body as ImageAnswer, wholeName)) continue;
      const { Id: id, Config: config } = body as ImageAnswer;
      const volumes = Object.keys(config?.Volumes ?? {});
      const environment = variablesOf(config?.Env ?? []);
      const labels = config?.Labels ?? {};
      const programUid = programUidOf({ Id: id, Labels: labels, RepoTags: (body as ImageAnswer).RepoTags ?? null });
      return { wholeName, facts: { id, volumes, environment, programUid, labels } };
    }
    return null;
  }

  async pull(reference: string, { signal, onProgress, useCredentials = false }: PullOptions = {}): Promise<void> {
    this.#fresh.clear();
    const { dialect } = this.#options;
    const name = parseImageReference(reference);
    if (name.kind === "id") throw imageUnavailable(reference, "an id is only looked for on the engine");
    if (!useCredentials && !dialect.pullsAnonymously) throw noAnonymousPull(reference, dialect.name);
    const auth = useCredentials ? await this.#auth(name.registry, signal) : null;
    const answer = await this.#api.stream(
      "pull the image",
      {
        method: "POST",
        path: "/images/create",
        query: { fromImage: `${name.registry}/${name.path}`, tag: name.digest ?? name.tag ?? "latest" },
        headers: auth === null ? {} : { "X-Registry-Auth": auth },
        signal,
      },
      "any",
    );
    if (!("chunks" in answer)) throw pullFailed(reference, refusalReason(answer));
    const progress = createPullProgress();
    let failure: string | null = null;
    for await (const line of jsonLines(answer.chunks)) {
      failure ??= pullFailure(line as PullLine);
      if (failure === null) onProgress?.(progress(line as PullLine));
    }
    if (failure !== null) throw pullFailed(reference, failure);
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
    await this.facts(reference, { signal });
    const found = await this.#find(reference, signal);
    const request = { method: "GET", path: imagePath(found?.wholeName ?? reference, "get"), signal } as const;
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

  /** Another engine may have written the name with a registry that means its own builds. */
  async #nameAs(reference: string, signal: AbortSignal | undefined): Promise<void> {
    const parsed = parseImageReference(reference);
    if (parsed.kind === "name" && parsed.shortPath !== null && parsed.tag !== null) {
      const { registry, path, shortPath, tag } = parsed;
      const other = `localhost/${shortPath}:${tag}`;
      if (await this.has(other, { signal })) {
        const query = { repo: `${registry}/${path}`, tag };
        await this.#api.call("name the image", { method: "POST", path: imagePath(other, "tag"), query, signal });
        return;
      }
    }
    throw imageUnavailable(reference, "the archive gave no image of that name");
  }

  async labels(reference: string, options?: CallOptions): Promise<Readonly<Record<string, string>>> {
    return (await this.facts(reference, options)).labels;
  }

  async remove(reference: string, { signal }: CallOptions = {}): Promise<void> {
    this.#fresh.clear();
    const found = await this.#find(reference, signal);
    if (found === null) return;
    const request = { method: "DELETE", path: imagePath(found.wholeName), query: { force: "1" }, signal } as const;
    await this.#api.call("remove the image", request, [404]);
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

  async #auth(registry: string, signal: AbortSignal | undefined): Promise<string | null> {
    const config = await this.#options.readClientConfig();
    if (config === null) return null;
    if (registry !== defaultRegistry) return registryAuthHeader(config, registry);
    const { body } = await this.#api.call("ask for the default registry", { method: "GET", path: "/info", signal });
    return registryAuthHeader(config, (body as InfoAnswer).IndexServerAddress ?? "");
  }
}

/** Variables as the API tells them: `NAME=value`. */
function variablesOf(list: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    list.map((each): readonly [string, string] => {
      const at = each.indexOf("=");
      return at < 0 ? [each, ""] : [each.slice(0, at), each.slice(at + 1)];
    }),
  );
}
