import { mkdtemp, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { parseImageReference, spellImage } from "../../policy/image-reference.ts";
import { assertNotPrepared, imageUnavailable, noAnonymousPull, pullFailed } from "../image-errors.ts";
import type { BuildOptions, CallOptions, ImageBuild, ImageStore, ImageSummary, PullOptions } from "../engine.ts";
import { engineName, refusal, unreadable, failureKind, failureWords, isServiceFailure } from "./apple-errors.ts";
import type { ContainerCommand } from "./container-command.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  readLabels,
  labelOption,
  AnswerError,
  objectAt,
  objectsAt,
  parseObjects,
  textAt,
  textsIn,
  option,
  type JsonObject,
} from "./command-format.ts";

/** Argument vector that fetches an image for one platform: without a platform the command fetches all of them. */
function pullArguments(reference: string, platform: string): readonly string[] {
  return ["image", "pull", option("progress", "none"), option("platform", platform), "--", reference];
}

/** Argument vector that builds an image from a folder with a `Dockerfile`. */
function buildArguments(
  build: Pick<ImageBuild, "reference" | "arguments" | "labels">,
  { folder, platform }: { readonly folder: string; readonly platform: string },
): readonly string[] {
  return [
    "build",
    option("progress", "plain"),
    option("platform", platform),
    option("tag", build.reference),
    option("file", `${folder}/Dockerfile`),
    ...Object.entries(build.arguments).map(([name, value]) => option("build-arg", `${name}=${value}`)),
    ...Object.entries(build.labels).map(([name, value]) => labelOption(name, value)),
    "--",
    folder,
  ];
}

/** What is read of a present image. */
interface ImageFacts {
  /** Its full name, as the engine keeps it. */
  readonly name: string;
  /** `sha256:` and 64 digits, of its index or manifest. */
  readonly digest: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The variables that it sets. */
  readonly environment: Readonly<Record<string, string>>;
}

const digestForm = /^sha256:[0-9a-f]{64}$/;

/** The first image in an answer of `image inspect`, as it is for one architecture. @throws AnswerError */
export function parseImage(text: string, architecture: string): ImageFacts {
  const [answer] = parseObjects(text);
  if (answer === undefined) throw new AnswerError("an image was expected");
  const configuration = objectAt(answer, "configuration");
  // Before 1.0 these stand at the top.
  const name = textAt(configuration, "name") ?? textAt(answer, "reference") ?? textAt(answer, "name");
  const descriptor = "descriptor" in configuration ? configuration : answer;
  const digest = textAt(objectAt(descriptor, "descriptor"), "digest") ?? textAt(objectAt(answer, "index"), "digest");
  if (name === undefined || digest === undefined || !digestForm.test(digest)) {
    throw new AnswerError("an image's name and digest were expected");
  }
  const config = configOf(answer, architecture);
  return { name, digest, labels: readLabels(textsIn(objectAt(config, "Labels"))), environment: variablesOf(config) };
}

function configOf(answer: JsonObject, architecture: string): JsonObject {
  const variants = objectsAt(answer, "variants");
  const own = variants.find((variant) => textAt(objectAt(variant, "platform"), "architecture") === architecture);
  return objectAt(objectAt(own ?? variants[0] ?? {}, "config"), "config");
}

function variablesOf(config: JsonObject): Readonly<Record<string, string>> {
  const words = Array.isArray(config["Env"]) ? (config["Env"] as readonly unknown[]) : [];
  const pairs = words.filter((word) => typeof word === "string").map((word) => /^([^=]+)=(.*)$/s.exec(word) ?? []);
  return Object.fromEntries(pairs.flatMap(([, name, value]) => (name === undefined ? [] : [[name, value ?? ""]])));
}

/** Writes the files of a build's archive, which is ours, into an empty folder: the command builds from folders only. */
async function unpackContext(archive: Uint8Array, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const child = spawn("tar", ["-x", "-f", "-", "-C", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    ...(signal === undefined ? {} : { signal }),
  });
  child.stdin.on("error", () => {
    // Its exit code says that it did not read everything.
  });
  child.stdin.end(archive);
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (exitCode !== 0) throw new GloveboxError("INTERNAL", "The files of an image's build could not be written.");
}

export interface AppleImagesOptions {
  readonly command: ContainerCommand;
  /** As images name it: `arm64`. */
  readonly architecture: string;
  /** Where folders of builds are made. */
  readonly folder: string;
}

/** Repository of the names that stand for an image's content. */
const contentNames = "glovebox-content";

/** The images of Apple's container service. */
export class AppleImages implements ImageStore {
  readonly #options: AppleImagesOptions;

  constructor(options: AppleImagesOptions) {
    this.#options = options;
  }

  /** `os/architecture` of everything that is pulled, built and run. */
  get platform(): string {
    return `linux/${this.#options.architecture}`;
  }

  async has(reference: string, { signal }: CallOptions = {}): Promise<boolean> {
    return (await this.#find(reference, signal)) !== null;
  }

  /** @throws IMAGE_UNAVAILABLE when it is not present */
  async facts(reference: string, { signal }: CallOptions = {}): Promise<ImageFacts> {
    const found = await this.#find(reference, signal);
    if (found === null) throw imageUnavailable(reference, "it is not present and has not been pulled");
    return found;
  }

  /** The service accepts no digest for a present image, so its content gets a name of its own. */
  async identity(reference: string, { signal }: CallOptions = {}): Promise<string> {
    const { digest } = await this.facts(reference, { signal });
    const name = `${contentNames}:${digest.slice("sha256:".length)}`;
    await this.#do("name an image", ["image", "tag", "--", reference, name], signal);
    return name;
  }

  async pull(reference: string, { signal, onProgress, useCredentials = false }: PullOptions = {}): Promise<void> {
    if (parseImageReference(reference).kind === "id") throw imageUnavailable(reference, "images here have no ids");
    // The command always uses the credentials of its own keychain.
    if (!useCredentials) throw noAnonymousPull(reference, engineName);
    onProgress?.({ status: `Pulling ${reference}`, currentBytes: null, totalBytes: null });
    const result = await this.#options.command.run({
      action: `pull ${reference}`,
      words: pullArguments(reference, this.platform),
      deadline: "pull",
      signal,
    });
    if (result.exitCode !== 0) {
      if (isServiceFailure(result.stderr)) throw refusal("pull an image", result);
      throw pullFailed(reference, failureWords(result.stderr) ?? result.stderr);
    }
    onProgress?.({ status: `Pulled ${reference}`, currentBytes: null, totalBytes: null });
  }

  async build(build: ImageBuild, { signal, onLine }: BuildOptions = {}): Promise<void> {
    const folder = await mkdtemp(path.join(await realpath(this.#options.folder), "glovebox-build-"));
    const last: string[] = [];
    const tell = (line: string): void => {
      last.push(line);
      if (last.length > 20) last.shift();
      onLine?.(line);
    };
    try {
      await unpackContext(build.context, folder, signal);
      const words = buildArguments(build, { folder, platform: this.platform });
      const call = { action: `build ${build.reference}`, words, deadline: "build", signal, onLine: tell } as const;
      const result = await this.#options.command.run(call);
      if (result.exitCode !== 0) {
        if (isServiceFailure(result.stderr)) throw refusal("build an image", result);
        throw imageUnavailable(build.reference, last.join("\n").replaceAll(folder, "."));
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async labels(reference: string, options?: CallOptions): Promise<Readonly<Record<string, string>>> {
    return (await this.facts(reference, options)).labels;
  }

  async remove(reference: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#do("remove an image", ["image", "delete", "--force", "--", reference], signal);
  }

  /** There are none that containers were made into. */
  list(): Promise<readonly ImageSummary[]> {
    return Promise.resolve([]);
  }

  async #find(reference: string, signal: AbortSignal | undefined): Promise<ImageFacts | null> {
    const wanted = parseImageReference(reference);
    // The command would take it for a name.
    if (wanted.kind === "id") return null;
    const action = "look for an image";
    const words = ["image", "inspect", "--", reference];
    const result = await this.#options.command.run({ action, words, deadline: "query", signal });
    if (result.exitCode !== 0) {
      if (failureKind(result.stderr) === "no-image") return null;
      throw refusal(action, result);
    }
    let found: ImageFacts;
    let name: string;
    try {
      found = parseImage(result.stdout, this.#options.architecture);
      name = spellImage(parseImageReference(found.name));
    } catch (error) {
      if (error instanceof GloveboxError && error.errorType !== "INVALID_REQUEST") throw error;
      throw unreadable(action, error);
    }
    if (name !== spellImage(wanted) || (wanted.digest ?? found.digest) !== found.digest) return null;
    assertNotPrepared(reference, found.labels);
    return found;
  }

  async #do(action: string, words: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const result = await this.#options.command.run({ action, words, deadline: "query", signal });
    if (result.exitCode !== 0) throw refusal(action, result);
  }
}
