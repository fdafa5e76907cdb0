import { readPackagedScript } from "../../../base/packaged-script.ts";
import { tarOf } from "../../../base/tar/tar.ts";
import type { Engine } from "../../../engines/engine.ts";
import { SharedBuilds, type BuildListener } from "../../program/image/shared-builds.ts";

/** The image `glovebox-session-tools`: built when it is missing, once however many ask for it (SPEC E2). */
export class ToolsImage {
  readonly reference: string;
  readonly #sessionImage: string;
  readonly #builds = new SharedBuilds<Engine>();

  /** `reference`: its name; `sessionImage`: what it is built on. */
  constructor({ reference, sessionImage }: { readonly reference: string; readonly sessionImage: string }) {
    this.reference = reference;
    this.#sessionImage = sessionImage;
  }

  /**
   * Builds it on the session image, which is there already, or waits for the build in progress. A caller that gives up
   * leaves the build to the others.
   * @throws IMAGE_UNAVAILABLE with the last lines of the step that failed, CANCELLED
   */
  async build(engine: Engine, listener: BuildListener, signal?: AbortSignal): Promise<void> {
    await this.#builds.join(engine, (everyone) => this.#build(engine, everyone), { listener, signal });
  }

  async #build(engine: Engine, { onBuild }: BuildListener): Promise<void> {
    const dockerfile = await readPackagedScript(
      new URL("../../../../images/session-tools/Dockerfile", import.meta.url),
    );
    await engine.images.build(
      {
        reference: this.reference,
        context: tarOf([{ path: "Dockerfile", content: Buffer.from(dockerfile) }]),
        arguments: { BASE: this.#sessionImage },
        labels: {},
      },
      { onLine: (line) => onBuild(this.reference, line) },
    );
  }
}
