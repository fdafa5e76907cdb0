import type { Engine } from "../../../engines/engine.ts";
import { keptImages, labels } from "../../../engines/labels.ts";
import type { BuiltImage } from "./build-request.ts";

/** How many built images an engine keeps in total; the newest stay. */
const maxKept = 8;
/** How long one is kept. */
export const keptMs: number = 30 * 24 * 3_600_000;

/** The image built from exactly the same input; null if none is kept. */
export async function findKept(engine: Engine, key: string, signal: AbortSignal): Promise<BuiltImage | null> {
  const [found] = await engine.images.list({ [labels.kept]: key, ...keptImages }, { signal });
  if (found === undefined) return null;
  return { image: found.id, environment: readVariables(found.labels[labels.keptVariables] ?? "") };
}

/** Labels by which it is found, and which record what its Dockerfile has set. */
export function keptLabels(key: string, environment: BuiltImage["environment"]): Readonly<Record<string, string>> {
  const variables = Buffer.from(JSON.stringify(environment)).toString("base64url");
  return { [labels.kept]: key, [labels.keptVariables]: variables };
}

/** Removes those that are too many or too old, except ones in use. */
export async function dropOldImages(engine: Engine, nowMs: number, signal: AbortSignal): Promise<void> {
  const endOf = (own: Readonly<Record<string, string>>): number => Date.parse(own[labels.expiresAt] ?? "") || 0;
  const kept = await engine.images.list(keptImages, { signal });
  const newest = kept.toSorted((one, other) => endOf(other.labels) - endOf(one.labels));
  const old = newest.filter((image, index) => index >= maxKept || endOf(image.labels) < nowMs);
  for (const image of old) await image.remove({ signal });
}

function readVariables(text: string): BuiltImage["environment"] {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8") || "{}") as BuiltImage["environment"];
}
