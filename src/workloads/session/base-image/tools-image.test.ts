import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { toolsImagesOf, toolsRecipes, type ToolsRecipe } from "../../../engines/images/tools-image.ts";
import { readToolsRecipe } from "./tools-image.ts";

it.each(Object.keys(toolsRecipes) as ToolsRecipe[])(
  "%s is named after its Dockerfile and the image that it is built on",
  async (recipe) => {
    const text = await readToolsRecipe(recipe);
    expect(toolsRecipes[recipe]).toBe(createHash("sha256").update(text).digest("hex").slice(0, 8));
    expect(toolsImagesOf("a")[recipe]).toMatch(new RegExp(`^glovebox-${recipe}:[0-9a-f]{16}$`));
    expect(toolsImagesOf("a")[recipe]).not.toBe(toolsImagesOf("b")[recipe]);
  },
);
