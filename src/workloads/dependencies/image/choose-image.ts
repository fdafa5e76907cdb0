import type { ImageOrigin } from "../../../policy/image-reference.ts";
import type { OpenPlace } from "../../../sandbox/mounts/open-place.ts";
import { devcontainerImage } from "./devcontainer-image.ts";

export interface ImageQuestion {
  /** The request's image; undefined: depends on the project. */
  readonly image: string | undefined;
  readonly project: Pick<OpenPlace, "stablePath">;
  /** The default image for the project's command, lockfile and language. */
  readonly defaultImage: string;
  /** Whether the engine uses images; if not, the project's own is ignored. */
  readonly hasImages: boolean;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Has the image there. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
}

/**
 * The image for a project, which is there then (SPEC TE4).
 * @throws INVALID_REQUEST for a bad description of a devcontainer, what `provideImage` throws
 */
export async function chooseImage({ provideImage, ...question }: ImageQuestion): Promise<string> {
  const { image, origin } = await imageFor(question);
  await provideImage(image, origin);
  return image;
}

async function imageFor(
  question: Omit<ImageQuestion, "provideImage">,
): Promise<{ readonly image: string; readonly origin: ImageOrigin }> {
  const { image, project, defaultImage, hasImages, platform } = question;
  if (image !== undefined) return { image, origin: "request" };
  const own = hasImages ? await devcontainerImage(project, platform) : null;
  return own === null ? { image: defaultImage, origin: "configured" } : { image: own, origin: "project" };
}
