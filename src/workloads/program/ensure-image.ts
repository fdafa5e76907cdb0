import type { Engine, PullProgress } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

export interface NeededImage {
  readonly image: string;
  /** Whether this request named the image, so that an engine without images must refuse. */
  readonly imageDemanded: boolean;
}

export interface EnsureImageOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPull: (image: string, progress: PullProgress) => void;
}

/** Has the engine's image pulled when it is missing (SPEC IM1). @throws IMAGE_UNAVAILABLE, UNSUPPORTED */
export async function ensureImage(
  { image, imageDemanded }: NeededImage,
  engine: Engine,
  { signal, onPull }: EnsureImageOptions,
): Promise<void> {
  const { images } = await engine.capabilities({ signal });
  if (!images && imageDemanded) {
    throw new GloveboxError("UNSUPPORTED", `Engine ${engine.name} has no images; "${image}" was requested.`, {
      suggestion: "Leave the image out, or choose an engine that runs containers.",
      context: { field: "image", engine: engine.name },
    });
  }
  if (!images || (await engine.images.has(image, { signal }))) return;
  await engine.images.pull(image, { signal, onProgress: (progress) => onPull(image, progress) });
}
