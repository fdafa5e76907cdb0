import { createHash } from "node:crypto";

/** Begins the hash of `images/session-tools/Dockerfile`, so that an image of an older one is not taken for it. */
export const toolsRecipe = "f7331b5f";

/** Name of the session image with Git, curl and a login shell, which Glovebox builds (SPEC E2); each session image has its own. */
export function toolsImageOf(sessionImage: string): string {
  const tag = createHash("sha256").update(`${toolsRecipe}\n${sessionImage}`).digest("hex").slice(0, 16);
  return `glovebox-session-tools:${tag}`;
}
