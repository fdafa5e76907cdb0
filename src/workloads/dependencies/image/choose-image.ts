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
}

/** The image for a project (SPEC TE4). @throws INVALID_REQUEST for a bad description of a devcontainer */
export async function chooseImage(question: ImageQuestion): Promise<string> {
  const { image, project, defaultImage, hasImages, platform } = question;
  if (image !== undefined) return image;
  return (hasImages ? await devcontainerImage(project, platform) : null) ?? defaultImage;
}
