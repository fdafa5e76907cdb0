import { mkdtemp, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { parseImageReference, spellImage } from "../../../policy/image-reference.ts";
import { assertNotPrepared, imageUnavailable, noAnonymousPull } from "../../images/image-errors.ts";
import { pullFailed } from "../../images/pull-failure.ts";
import type { BuildOptions, CallOptions, ImageBuild, ImageStore, ImageSummary, PullOptions } from "../../engine.ts";
import { parseImage, type ImageFacts } from "../answers/image-answer.ts";
import { buildArguments, pullArguments } from "../arguments/image-arguments.ts";
import { engineName, refusal, unreadable } from "../command/command-errors.ts";
import { failureKind, failureWords, isServiceFailure } from "../command/command-failure.ts";
import type { ContainerCommand } from "../command/container-command.ts";
import { unpackContext } from "./unpack-context.ts";

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
