import type { Engine, PullProgress } from "../../engines/engine.ts";
import { assertNotPrepared } from "../../engines/image-errors.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { isListedImage } from "../../policy/grants.ts";
import { parseImageReference, type ImageOrigin } from "../../policy/image-reference.ts";

export interface NeededImage {
  readonly image: string;
  /** An engine without images refuses one that the request named. */
  readonly origin: ImageOrigin;
}

export interface ImageListener {
  readonly onPull: (image: string, progress: PullProgress) => void;
  /** A line of a build. */
  readonly onBuild: (image: string, line: string) => void;
}

/** Has the engine's image there, pulled or built. */
export type ProvideImage = (
  image: NeededImage,
  engine: Engine,
  options: ImageListener & { readonly signal?: AbortSignal | undefined },
) => Promise<void>;

export interface EnsureImageOptions extends Pick<ImageListener, "onPull"> {
  readonly signal?: AbortSignal | undefined;
  /** Images and registries for which this machine's registry credentials may always be used. */
  readonly listed: readonly string[];
}

/**
 * Has the engine's image pulled when it is missing (SPEC IM1).
 * @throws IMAGE_UNAVAILABLE, UNSUPPORTED, POLICY_DENIED for one that Glovebox prepared
 */
export async function ensureImage(
  { image, origin }: NeededImage,
  engine: Engine,
  { signal, onPull, listed }: EnsureImageOptions,
): Promise<void> {
  const { images } = await engine.capabilities({ signal });
  if (!images && origin === "request") throw noImagesHere(engine.name, image);
  if (!images) return;
  if (await engine.images.has(image, { signal })) {
    // An id always means the same image, so that this look is enough; names are looked at at each use.
    if (parseImageReference(image).kind === "id")
      assertNotPrepared(image, await engine.images.labels(image, { signal }));
    return;
  }
  await engine.images.pull(image, {
    signal,
    useCredentials: origin !== "project" || isListedImage(image, listed),
    onProgress: (progress) => onPull(image, progress),
  });
}

/** Refuses an image that a request names from an engine that would ignore it (SPEC RT6). */
export function noImagesHere(engine: string, image: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} has no images; "${image}" was requested.`, {
    suggestion: "Leave the image out, or choose an engine that runs containers.",
    context: { field: "image", engine },
  });
}
