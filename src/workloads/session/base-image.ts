import { bunLabel, bunVersion, fetchBun, type BunTarget, type FetchBunOptions } from "../../base/bun-packages.ts";
import { readPackagedScript } from "../../base/packaged-script.ts";
import { tarOf } from "../../base/tar.ts";
import type { Engine } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { defaultSessionImage } from "../../policy/profile.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { lookAtBase } from "../program/look-at-base.ts";
import { SharedBuilds, type BuildListener } from "../program/shared-builds.ts";

export interface BaseImageOptions extends Omit<FetchBunOptions, "signal"> {
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

function notBuilt(cause: Error): never {
  if (cause instanceof GloveboxError) throw cause;
  throw new GloveboxError("IMAGE_UNAVAILABLE", `Image bun-runner-base cannot be built: ${cause.message}.`, {
    suggestion:
      "Check that `npm view bun` works on the machine that runs Glovebox, or name an image with Bun and Python.",
    context: { image: defaultSessionImage, reason: cause.message },
    cause,
  });
}
