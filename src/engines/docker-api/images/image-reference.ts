import { invalidField } from "../../../errors/glovebox-error.ts";

/** An image's name taken apart. */
export interface ImageReference {
  /** `host[:port]`; null for the engine's default registry. */
  readonly registry: string | null;
  /** Name with its registry, as it was written. */
  readonly name: string;
  /** Tag or digest; `latest` when none was written. */
  readonly tag: string;
}

const label = String.raw`[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`;
// A first part is a host when it has a dot or a port, or is `localhost`.
const host = String.raw`(?<registry>localhost|${label}(?:\.${label})*:\d+|${label}(?:\.${label})+)`;
const path = String.raw`[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*`;
const pattern = new RegExp(
  String.raw`^(?<name>(?:${host}\/)?${path})(?::(?<tag>\w[\w.-]{0,127}))?(?:@(?<digest>[a-z0-9]+:[a-f0-9]{32,}))?$`,
);

/**
 * Takes an image's name apart.
 * @throws INVALID_REQUEST for what no registry could have
 */
export function parseImageReference(reference: string): ImageReference {
  const groups = pattern.exec(reference)?.groups;
  if (groups === undefined) throw invalidField("image", "an image name such as `python:3.13-slim`", reference);
  const { name = "", registry, tag, digest } = groups;
  return { registry: registry ?? null, name, tag: digest ?? tag ?? "latest" };
}

/** Path of the calls on a local image. */
export function imagePath(reference: string, action?: string): string {
  parseImageReference(reference);
  return action === undefined ? `/images/${reference}` : `/images/${reference}/${action}`;
}
