import { bunLabel, bunVersion, fetchBun, type BunTarget, type FetchBunOptions } from "../../base/bun-packages.ts";
import { readPackagedScript } from "../../base/packaged-script.ts";
import { tarOf, type TarFile } from "../../base/tar.ts";
import type { Engine } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { defaultSessionImage } from "../../policy/profile.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { lookAtBase, SharedBuilds, type BuildListener } from "../program/image-builds.ts";
import { readFile, stat } from "node:fs/promises";
import type { ToolsImages, ToolsRecipe } from "../../engines/tools-image.ts";
import { isSameImage } from "../../policy/image-reference.ts";

interface BaseImageOptions extends Omit<FetchBunOptions, "signal"> {
  /** The image that it is built on. */
  readonly base: string;
  /** For a look into the base; takes no place of a run's. */
  readonly sandboxes: Sandboxes;
}

/** The image `bun-runner-base`: built when it is missing, once however many ask for it (SPEC IM2). */
export class BaseImage {
  readonly #options: BaseImageOptions;
  readonly #builds = new SharedBuilds<Engine>();

  constructor(options: BaseImageOptions) {
    this.#options = options;
  }

  /**
   * Builds it, or waits for the build in progress. A caller that gives up leaves the build to the others.
   * @throws IMAGE_UNAVAILABLE with the last lines of the step that failed, CANCELLED
   */
  async build(engine: Engine, listener: BuildListener, signal?: AbortSignal): Promise<void> {
    await this.#builds.join(engine, (everyone) => this.#build(engine, everyone), { listener, signal });
  }

  async #build(engine: Engine, { onPull, onBuild }: BuildListener): Promise<void> {
    const { base, sandboxes } = this.#options;
    if (!(await engine.images.has(base))) {
      await engine.images.pull(base, { useCredentials: true, onProgress: (progress) => onPull(base, progress) });
    }
    onBuild(defaultSessionImage, `fetching Bun ${bunVersion}`);
    const { cpu, libc } = await lookAtBase(engine, base, { sandboxes, setting: "images.session_base" });
    const target: BunTarget = `linux-${cpu === "x64" ? "x64" : "aarch64"}${libc === "musl" ? "-musl" : ""}`;
    const bun = await fetchBun(target, this.#options).catch(notBuilt);
    const dockerfile = await readPackagedScript(new URL("../../../images/bun-runner-base/Dockerfile", import.meta.url));
    await engine.images.build(
      {
        reference: defaultSessionImage,
        context: tarOf([
          { path: "Dockerfile", content: Buffer.from(dockerfile) },
          { path: "bun.tgz", content: bun },
        ]),
        arguments: { BASE: base },
        labels: { [bunLabel]: bunVersion },
      },
      { onLine: (line) => onBuild(defaultSessionImage, line) },
    );
  }
}

interface ToolsImageOptions {
  readonly images: ToolsImages;
  /** The image of sessions, which they are built on. */
  readonly sessionImage: string;
  readonly pythonIndex: () => Promise<PythonIndexSettings>;
}

/** Where pip of this machine finds packages. */
export interface PythonIndexSettings {
  /** Without a user and a password, which images would keep; null: pip's own. */
  readonly url: string | null;
  /** The file with the certificates that it trusts; null: pip's own. */
  readonly certificates: string | null;
}

/** Images that are built of recipes when they are missing, each once however many ask for it (SPEC E2). */
export class ToolsImage {
  readonly #options: ToolsImageOptions;
  readonly #builds = new Map<Engine, SharedBuilds<ToolsRecipe>>();

  constructor(options: ToolsImageOptions) {
    this.#options = options;
  }

  /** The recipe whose image has that name, however it is written; null for any other image. */
  recipeOf(image: string): ToolsRecipe | null {
    const { images } = this.#options;
    return recipes.find((recipe) => isSameImage(image, images[recipe])) ?? null;
  }

  /** What that image is built on. */
  baseOf(recipe: ToolsRecipe): string {
    const { images, sessionImage } = this.#options;
    return recipe === "session-tools" ? sessionImage : images["session-tools"];
  }

  /**
   * Builds it on its base, which is there already, or waits for the build in progress. A caller that gives up leaves the
   * build to the others.
   * @throws IMAGE_UNAVAILABLE with the last lines of the step that failed, CANCELLED
   */
  async build(
    engine: Engine,
    recipe: ToolsRecipe,
    { listener, signal }: { readonly listener: BuildListener; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    const builds = this.#builds.get(engine) ?? new SharedBuilds<ToolsRecipe>();
    this.#builds.set(engine, builds);
    await builds.join(recipe, (everyone) => this.#build(engine, recipe, everyone), { listener, signal });
  }

  async #build(engine: Engine, recipe: ToolsRecipe, { onBuild }: BuildListener): Promise<void> {
    const reference = this.#options.images[recipe];
    onBuild(reference, "for the first sandbox that needs it");
    const dockerfile = { path: "Dockerfile", content: Buffer.from(await readToolsRecipe(recipe)) };
    const python = recipe === "code-interpreter" ? await this.#pythonInputs() : { files: [], arguments: {} };
    await engine.images.build(
      {
        reference,
        context: tarOf([dockerfile, ...python.files]),
        arguments: { BASE: this.baseOf(recipe), ...python.arguments },
        labels: {},
      },
      { onLine: (line) => onBuild(reference, line) },
    );
  }

  async #pythonInputs(): Promise<{ readonly files: readonly TarFile[]; readonly arguments: Record<string, string> }> {
    const { url, certificates } = await this.#options.pythonIndex();
    const content = Buffer.from(certificates === null ? "" : await readCertificates(certificates));
    return {
      files: [{ path: "certificates.pem", content }],
      arguments: url === null ? {} : { PIP_INDEX_URL: url },
    };
  }
}

/** Far above the bundles of systems, which have some 0.3 MB. */
const maxCertificateBytes = 4 * 1024 * 1024;

/**
 * The certificates of a file and nothing else of it, such as a private key. What cannot be read has none: pip's own apply
 * then, and its error says what is wrong.
 */
export async function readCertificates(file: string): Promise<string> {
  const text = await readCertificateFile(file).catch(() => "");
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,20000}-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => `${block}\n`).join("");
}

const recipes: readonly ToolsRecipe[] = ["session-tools", "code-interpreter"];

/** Its Dockerfile. */
export function readToolsRecipe(recipe: ToolsRecipe): Promise<string> {
  return readPackagedScript(
    recipe === "session-tools"
      ? new URL("../../../images/session-tools/Dockerfile", import.meta.url)
      : new URL("../../../images/code-interpreter/Dockerfile", import.meta.url),
  );
}

function notBuilt(cause: Error): never {
  if (cause instanceof GloveboxError) throw cause;
  throw new GloveboxError("IMAGE_UNAVAILABLE", `Image bun-runner-base cannot be built: ${cause.message}.`, {
    suggestion:
      "Check that `npm view bun` works on the machine that runs Glovebox, or name an image with Bun and Python.",
    context: { image: defaultSessionImage, reason: cause.message },
    cause,
  });
}

async function readCertificateFile(file: string): Promise<string> {
  const found = await stat(file);
  return found.isFile() && found.size <= maxCertificateBytes ? readFile(file, "utf8") : "";
}
