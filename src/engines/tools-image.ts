import { createHash } from "node:crypto";

/**
 * The recipes of `images/` that Glovebox builds on the image of sessions for clients of others (SPEC E2), each with the
 * beginning of its hash, so that an image of an older one is not taken for it.
 */
export const toolsRecipes = {
  /** Git, curl and a login shell. */
  "session-tools": "f7331b5f",
  /** The same, and the packages of E2B's code interpreter. */
  "code-interpreter": "bebcb055",
} as const;

export type ToolsRecipe = keyof typeof toolsRecipes;

/** The names of the images, by their recipes. */
export type ToolsImages = Readonly<Record<ToolsRecipe, string>>;

/** Each session image has its own. */
export function toolsImagesOf(sessionImage: string): ToolsImages {
  const tools = nameOf("session-tools", sessionImage);
  return { "session-tools": tools, "code-interpreter": nameOf("code-interpreter", tools) };
}

function nameOf(recipe: ToolsRecipe, base: string): string {
  const tag = createHash("sha256").update(`${toolsRecipes[recipe]}\n${base}`).digest("hex").slice(0, 16);
  return `glovebox-${recipe}:${tag}`;
}
