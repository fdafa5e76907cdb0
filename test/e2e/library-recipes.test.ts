import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";

const page = readFileSync(path.join(projectFolder, "docs/library.md"), "utf8");
const section = /^## Recipes\n([\s\S]*?)^## /m.exec(page)?.[1] ?? "";
const recipes = section.split(/^### /m).slice(1);
const library = pathToFileURL(path.join(projectFolder, "src/index.ts")).href;

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-recipes-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The first block of a kind in a recipe. */
const block = (recipe: string, kind: string): string =>
  new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``).exec(recipe)?.[1] ?? "";

describe("the recipes of docs/library.md", () => {
  useGlovebox("local");

  it("are there, each with its output", () => {
    expect(recipes.length).toBeGreaterThan(7);
    for (const recipe of recipes) expect([block(recipe, "ts"), block(recipe, "text")]).not.toContain("");
  });

  it.each(recipes.map((recipe) => [recipe.split("\n")[0], recipe] as const))("%s", async (title = "", recipe) => {
    const file = path.join(folder, `${title.replaceAll(/\W+/g, "-")}.ts`);
    writeFileSync(file, block(recipe, "ts").replace('"glovebox"', JSON.stringify(library)));
    const environment = {
      ...process.env,
      DOCKER_HOST: "unix:///nonexistent/docker.sock",
      CONTAINER_HOST: "unix:///nonexistent/podman.sock",
    };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env: environment });
    expect(stdout).toBe(block(recipe, "text"));
  });
});
