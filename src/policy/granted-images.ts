import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { isRegistry, parseImageReference, spellImage, spellRegistry } from "./image-reference.ts";

/** Ends an entry that stands for a whole registry. */
const everything = "/*";

/** What callers with an API key may name. */
export interface GrantedImages {
  /** Images of the configuration; always allowed. */
  readonly configured: readonly string[];
  /** References, and registries as `HOST[:PORT]/*`. */
  readonly granted: readonly string[];
}

/** Checks one entry of a list of images: a reference, or a registry as `HOST[:PORT]/*`. @throws INVALID_REQUEST */
export function checkGrantedImage(entry: string, field: string): void {
  if (!entry.endsWith(everything)) {
    parseImageReference(entry, field);
    return;
  }
  const registry = entry.slice(0, -everything.length);
  if (isRegistry(registry) && (/[.:]/.test(registry) || registry === "localhost")) return;
  throw invalidField(field, "a registry such as registry.example:5000/*", entry);
}

/** Whether a list of images or registries has this image: by its whole name and tag or digest, or by host and port. */
export function isListedImage(image: string, listed: readonly string[]): boolean {
  const reference = parseImageReference(image);
  return listed.some((entry) => {
    if (!entry.endsWith(everything)) return spellImage(parseImageReference(entry)) === spellImage(reference);
    // An id says nothing of where its image is from.
    return reference.kind === "name" && spellRegistry(entry.slice(0, -everything.length)) === reference.registry;
  });
}

/**
 * Refuses an image that is neither configured nor listed (SPEC IM4): each image is network access, and those that the
 * engine has may hold what belongs to others.
 * @throws POLICY_DENIED naming the image, and what would allow it
 */
export function assertImageGranted(image: string, { configured, granted }: GrantedImages, field: string): void {
  if (isListedImage(image, configured) || isListedImage(image, granted)) return;
  const allowed = [...new Set([...configured, ...granted])].slice(0, 20);
  throw new GloveboxError(
    "POLICY_DENIED",
    `${field}: the image "${image}" is refused by the rule images of your API key.`,
    {
      suggestion: `Name one of ${allowed.join(", ")}. What would allow it: a key that the operator makes with --images ${image} (or its registry as HOST[:PORT]/*), or the setting images.allow.`,
      context: { field, rule: "images", value: image, allowed },
    },
  );
}
