import type { Engine, EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { defaultSessionImage } from "../../policy/session-profile.ts";
import { bunLabel, bunVersion } from "../../base/bun-packages.ts";
import type { Finding } from "./finding-schema.ts";

/** Labels of an image. */
export type ImageLabels = Readonly<Record<string, string>>;

/** The label is untrusted. */
const versionForm = /^\d[\w.+-]{0,39}$/;

/** Labels of the engine's image for sessions; null if there is none, or the engine fails. @throws CANCELLED */
export async function sessionImageLabels(engine: Engine, signal?: AbortSignal): Promise<ImageLabels | null> {
  try {
    if (!(await engine.images.has(defaultSessionImage, { signal }))) return null;
    return await engine.images.labels(defaultSessionImage, { signal });
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "CANCELLED") throw error;
    return null;
  }
}

/** What an operator should know about the image for sessions: one with another Bun is still used (SPEC IM2). */
export function imageFindings(engine: EngineName, labels: ImageLabels | null): readonly Finding[] {
  const version = labels?.[bunLabel];
  if (labels === null || version === bunVersion) return [];
  const has = version !== undefined && versionForm.test(version) ? `Bun ${version}` : "a Bun that it does not name";
  return [
    {
      severity: "note",
      what: `The image ${defaultSessionImage} has ${has}; this Glovebox is made for Bun ${bunVersion}.`,
      why: "Sessions use it as it is: programs may behave differently, and miss fixes.",
      fix: `Rebuild it: \`glovebox images build --engine ${engine}\`.`,
    },
  ];
}
