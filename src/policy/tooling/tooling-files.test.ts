import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toolingPaths } from "./tooling-files.ts";

describe("toolingPaths", () => {
  it("has each path once, with those of the deployment, and docs/environments.md lists them all", () => {
    const text = readFileSync(new URL("../../../docs/environments.md", import.meta.url), "utf8");
    const paths = toolingPaths([]);
    expect(paths.filter((path) => !text.includes(`\`${path}\``))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
    expect(toolingPaths(["tools/hooks", ".vscode"])).toEqual([...paths, "tools/hooks"]);
  });

  it("leaves out what only runs when the owner runs the project", () => {
    const ordinary = new Set(["package.json", "Makefile", "AGENTS.md", ".gitignore", ".github/workflows"]);
    expect(toolingPaths([]).filter((path) => ordinary.has(path))).toEqual([]);
  });
});
