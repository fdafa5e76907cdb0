import { labels } from "../labels.ts";
import { LineReader, type Line } from "../../base/streams/line-reader.ts";
import { defaultRegistry, parseImageReference, spellImage, spellingOf } from "../../policy/image-reference.ts";
import type {
  BuildOptions,
  CallOptions,
  EngineName,
  ImageBuild,
  ImageStore,
  ImageSummary,
  PullOptions,
  PullProgress,
} from "../engine.ts";
import type { Api } from "./http/api.ts";
import type { InfoAnswer } from "./engine-capabilities.ts";
import { refusalReason } from "./http/api-answer.ts";
import { assertNotPrepared, imageUnavailable, noAnonymousPull, pullFailed } from "../image-errors.ts";
import { Buffer } from "node:buffer";

/** The part of a listed image that is read. */
interface ListedImage {
  readonly Id: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly RepoTags?: readonly string[] | null;
}

/** Who owns what programs wrote to the container that an image was made of; null where nothing of ours says so. */
export function programUidOf(image: ListedImage): number | null {
  const text = isMadeImage(image) ? (image.Labels?.[labels.programUser] ?? "") : "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Repository of the images that are made of containers; engines complete a name that says no registry, each in its way. */
export const madeImages = "localhost/glovebox-made";

/**
 * Whether an image was made of a container of ours, and nobody else has named it. Images hand their labels down to those
 * that are made of them, and their authors write what they like; a tag on this engine is nothing that a label brings.
 */
export function isMadeImage({ Labels: own, RepoTags: names }: ListedImage): boolean {
  const tag = own?.[labels.image];
  const [name, ...others] = names ?? [];
  return tag !== undefined && others.length === 0 && name === `${madeImages}:${tag}`;
}

/** The part of the client's `config.json` that is read; credential helpers (`credsStore`, `credHelpers`) are not. */
interface ClientConfig {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
}

/**
 * Value of the `X-Registry-Auth` header for a registry, from the text of the client's `config.json`; null when it holds
 * no credentials for it. `registry` is a host name with its port, or the address of the default registry.
 */
export function registryAuthHeader(configText: string, registry: string): string | null {
  let config: ClientConfig;
  try {
    config = JSON.parse(configText) as ClientConfig;
  } catch {
    // Another program's broken file is no reason to refuse a public image.
    return null;
  }
  const entries = Object.entries(config.auths ?? {});
  const entry = entries.find(([key]) => key === registry) ?? entries.find(([key]) => hostOf(key) === hostOf(registry));
  if (entry === undefined) return null;
  const [serveraddress, { auth = "", identitytoken = "" }] = entry;
  const [username = "", ...rest] = Buffer.from(auth, "base64").toString("utf8").split(":");
  const password = rest.join(":");
  if (identitytoken === "" && username === "") return null;
  const credentials = identitytoken === "" ? { username, password, serveraddress } : { identitytoken, serveraddress };
  // URL-safe but padded: Docker ignores it without padding.
  return Buffer.from(JSON.stringify(credentials)).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

/** One line of a pull's answer. */
interface PullLine {
  readonly status?: string;
  /** The layer. */
  readonly id?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number } | null;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string } | null;
}

/** What engines call the steps of a pull; anything else may be a registry's words. */
const steps =
  /^(?:Pulling (?:fs layer|from)|Waiting|Downloading|Verifying Checksum|Download complete|Extracting|Pull complete|Already exists|Retrying|Copying (?:blob|config)|Getting image source signatures|Writing manifest|Storing signatures|Digest|Status)(?![a-z])/i;
const layerForm = /^[0-9a-f]{12}$/;

/** Adds up the layers of a pull: fed each line, gives the sums so far. Unpacking counts no bytes a second time. */
export function createPullProgress(): (line: PullLine) => PullProgress {
  const layers = new Map<string, { current: number; total: number }>();
  return (line) => {
    const { status = "", id, progressDetail } = line;
    if (id !== undefined && status === "Downloading" && progressDetail?.total !== undefined) {
      layers.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total });
    }
    const layer = id === undefined ? undefined : layers.get(id);
    if (layer !== undefined && /^(?:Download complete|Pull complete|Extracting|Verifying Checksum)$/.test(status)) {
      layer.current = layer.total;
    }
    const known = [...layers.values()];
    return {
      status: stepOf(status, id),
      currentBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each.current, 0),
      totalBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each.total, 0),
    };
  };
}

/** Why the pull failed, by this line; null when it did not. Some engines tell failures only here. */
export function pullFailure(line: PullLine): string | null {
  return line.errorDetail?.message ?? line.error ?? null;
}

/** The part of an image's inspection that says what it is. */
interface NamedImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
}

/** The registry that stands for an engine's own builds, where it names any so. */
const localRegistry = "localhost";

/**
 * The whole names under which an image may be on the engine, in the order in which they count; a whole id is one too.
 * Each has its registry, so that no engine takes it for the beginning of an id, an alias or a short name.
 * @throws INVALID_REQUEST for what is no reference
 */
export function wholeNames(reference: string, namesLocalBuilds: boolean): readonly string[] {
  const parsed = parseImageReference(reference);
  const spelled = spellImage(parsed);
  if (parsed.kind === "id" || parsed.shortPath === null || !namesLocalBuilds) return [spelled];
  return [spelled, spellImage({ ...parsed, registry: localRegistry, path: parsed.shortPath })];
}

/** Whether the image found bears exactly this whole name: engines find images by much less. */
export function bears({ Id: id, RepoTags: tags, RepoDigests: digests }: NamedImage, wholeName: string): boolean {
  if (parseImageReference(wholeName).kind === "id")
    return wholeName === (id.startsWith("sha256:") ? id : `sha256:${id}`);
  // Those without a name are listed as `<none>:<none>`.
  return [...(tags ?? []), ...(digests ?? [])].some((name) => spellingOf(name) === wholeName);
}

/** Path of the calls on a local image. */
export function imagePath(wholeName: string, action?: string): string {
  // Only a parsed name has nothing in it that would lead out of its place in the path.
  const name = spellImage(parseImageReference(wholeName));
  return action === undefined ? `/images/${name}` : `/images/${name}/${action}`;
}

/** One line of a build's answer. */
type BuildLine = PullLine & { readonly stream?: string };

/** Lines of a failed step that are shown. */
const toldLines = 12;

/** The words of a build, line by line, and its failure with the last of them. */
export class BuildLines {
  #rest = "";
  readonly #last: string[] = [];
  #failure: string | null = null;

  /** The lines that are whole now. */
  add(line: BuildLine): readonly string[] {
    this.#failure ??= line.errorDetail?.message ?? line.error ?? null;
    const text = line.stream ?? (line.status === undefined ? "" : `${line.status}\n`);
    const lines = `${this.#rest}${text}`.split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    const told = lines.map((each) => each.trim()).filter((each) => each !== "");
    this.#last.push(...told);
    this.#last.splice(0, Math.max(0, this.#last.length - toldLines));
    return told;
  }

  /** Why the build failed, after its last lines; null when it did not. */
  get failure(): string | null {
    if (this.#failure === null) return null;
    return [...this.#last, this.#failure.trim()].join("\n");
  }
}

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

interface DockerApiImagesOptions {
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

/** Longest line that is kept: far more than engines send. */
const maxLineBytes = 1_048_576;

/** The JSON values of a stream with one on each line. Lines that are not JSON are skipped. */
export async function* jsonLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  const lines = new LineReader(maxLineBytes);
  for await (const bytes of stream) yield* lines.push(bytes).flatMap(parsed);
  yield* lines.end().flatMap(parsed);
}

function parsed({ bytes }: Line): unknown[] {
  try {
    const line = bytes.toString("utf8");
    return line.trim() === "" ? [] : [JSON.parse(line) as unknown];
  } catch {
    return [];
  }
}

function hostOf(key: string): string {
  return key.replace(/^https?:\/\//, "").split("/")[0] ?? "";
}

/** The step in words of a fixed set, with its layer. */
function stepOf(status: string, layer: string | undefined): string {
  const step = steps.exec(status)?.[0] ?? "Pulling";
  return layer !== undefined && layerForm.test(layer) ? `${layer}: ${step}` : step;
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
