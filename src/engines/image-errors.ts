import { GloveboxError } from "../errors/glovebox-error.ts";
import type { EngineName } from "./engine.ts";
import { labels } from "./labels.ts";

/** An image that is not there, or could not be fetched or made; `reason` completes "is not available: ...". */
export function imageUnavailable(reference: string, reason: string, cause?: unknown): GloveboxError {
  return new GloveboxError("IMAGE_UNAVAILABLE", `Image ${reference} is not available: ${reason}.`, {
    context: { image: reference, reason },
    cause,
  });
}

const ownLabels: readonly string[] = Object.values(labels);

/**
 * Whether Glovebox made an image from a container, or somebody made it from such an image: it holds what belongs to one
 * project or one principal. Labels stay with an image under any name and are handed down to those based on it.
 */
function isPreparedImage(own: Readonly<Record<string, string>>): boolean {
  return ownLabels.some((label) => Object.hasOwn(own, label));
}

/** Refuses an image that Glovebox prepared for a project, a package set or an environment (SPEC IM4). @throws POLICY_DENIED */
export function assertNotPrepared(reference: string, own: Readonly<Record<string, string>>): void {
  if (!isPreparedImage(own)) return;
  throw new GloveboxError(
    "POLICY_DENIED",
    `Image ${reference} was prepared by Glovebox for a project or an environment, so nothing can name it.`,
    {
      suggestion: "Name the image that it was based on; what was prepared from that is found by itself.",
      context: { field: "image", image: reference, rule: "prepared-images" },
    },
  );
}

/** Refuses a pull without credentials from an engine that always uses its own. */
export function noAnonymousPull(reference: string, engine: EngineName): GloveboxError {
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `Image ${reference} is not present, and a project's files chose it: engine ${engine} would use this machine's registry credentials to pull it.`,
    {
      suggestion: `Name it in the request (image), list it in images.allow, or pull it first: glovebox images pull ${reference}.`,
      context: { field: "image", image: reference, engine },
    },
  );
}
