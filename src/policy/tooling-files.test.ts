import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toolingNames, toolingPaths, toolingPatterns } from "./tooling-files.ts";

describe("toolingPaths", () => {
  it("has each path once, with those of the deployment, and docs/environments.md lists them all", () => {
    const text = readFileSync(new URL("../../docs/environments.md", import.meta.url), "utf8");
    const paths = toolingPaths([]);
    expect([...paths, ...toolingPatterns()].filter((path) => !text.includes(`\`${path}\``))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
    expect(toolingPaths(["tools/hooks", ".vscode"])).toEqual([...paths, "tools/hooks"]);
  });

  it("leaves out what only runs when the owner runs the project", () => {
    const ordinary = new Set(["package.json", "Makefile", "AGENTS.md", ".gitignore", ".github/workflows"]);
    expect(toolingPaths([]).filter((path) => ordinary.has(path))).toEqual([]);
  });

  it("knows the configuration of version control, languages, editors and agents that runs code", () => {
    const known = [
      ...[".hg/hgrc", ".sl/config", ".jj/repo/config.toml", ".Rprofile", ".Renviron", ".ghci", ".irbrc", ".pryrc"],
      ...[".luarc.json", ".luarc.jsonc", ".latexmkrc", "latexmkrc", ".pi", ".lazy.lua", ".iex.exs"],
    ];
    expect(toolingPaths([])).toEqual(expect.arrayContaining(known));
  });

  it("finds those with a star by their names", () => {
    const named = ["a.code-workspace", "jupyter_server_config.py", "jupyter_config.py", ".code-workspace"];
    const other = ["code-workspace.txt", "my_jupyter_server_config.py", "jupyter_notes.py", "jupyter_"];
    expect(toolingNames([...named, ...other])).toEqual(named);
  });
});
