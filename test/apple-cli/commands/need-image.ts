import type { Context } from "../context.ts";
import type { StoredImage } from "../images/image-store.ts";
import { pullImage } from "../images/pull.ts";
import { readReference } from "../images/reference.ts";
import { CommandError } from "../output/command-error.ts";
import { isAtLeast } from "../parser/version.ts";

/** Progress lines, if the version writes any without a terminal. */
export function showProgress({ options, settings, say }: Context, line: string): void {
  const kind = options.one("progress") ?? "auto";
  if (kind !== "none" && kind !== "ansi" && isAtLeast(settings.version, "0.12.0")) say.err(line);
}

/** Fetches an image even if it is already there. */
export async function fetchImage(context: Context, text: string): Promise<void> {
  const reference = readReference(text);
  if (context.fault === "network-dead") {
    throw new CommandError("unknown", "HTTPClientError.connectTimeout");
  }
  showProgress(context, "[1/2] Fetching image 0%");
  await pullImage(context.api, context.images, reference);
  showProgress(context, "[2/2] Unpacking image 100%");
}

/** The image that a container is made from; it is fetched if missing. */
export async function needImage(context: Context, text: string): Promise<StoredImage> {
  const found = await context.images.find(text);
  if (found !== undefined) return found;
  await fetchImage(context, text);
  const fetched = await context.images.find(text);
  if (fetched === undefined) throw new CommandError("notFound", `image with reference ${text}`);
  return fetched;
}
