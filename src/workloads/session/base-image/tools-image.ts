import { readPackagedScript } from "../../../base/packaged-script.ts";
import { tarOf } from "../../../base/tar/tar.ts";
import type { Engine } from "../../../engines/engine.ts";
import type { ToolsImages, ToolsRecipe } from "../../../engines/images/tools-image.ts";
import { isSameImage } from "../../../policy/image-reference.ts";
import { SharedBuilds, type BuildListener } from "../../program/image/shared-builds.ts";

export interface ToolsImageOptions {
  readonly images: ToolsImages;
  /** The image of sessions, which they are built on. */
  readonly sessionImage: string;
  /** The Python index of this machine without a user and a password, which images would keep; null: pip's own. */
  readonly pythonIndex: () => Promise<string | null>;
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
    const index = recipe === "code-interpreter" ? await this.#options.pythonIndex() : null;
    await engine.images.build(
      {
        reference,
        context: tarOf([{ path: "Dockerfile", content: Buffer.from(await readToolsRecipe(recipe)) }]),
        arguments: { BASE: this.baseOf(recipe), ...(index === null ? {} : { PIP_INDEX_URL: index }) },
        labels: {},
      },
      { onLine: (line) => onBuild(reference, line) },
    );
  }
}

const recipes: readonly ToolsRecipe[] = ["session-tools", "code-interpreter"];

/** Its Dockerfile. */
export function readToolsRecipe(recipe: ToolsRecipe): Promise<string> {
  return readPackagedScript(
    recipe === "session-tools"
      ? new URL("../../../../images/session-tools/Dockerfile", import.meta.url)
      : new URL("../../../../images/code-interpreter/Dockerfile", import.meta.url),
  );
}
