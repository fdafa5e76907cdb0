import { describe, expect, it } from "vitest";
import { installers, type InputFiles, type InstallerName } from "./installers.ts";

const named = (packageManager: string): string => JSON.stringify({ packageManager });

describe("the line that installs a project's dependencies", () => {
  it.each<[InstallerName, InputFiles, RegExp]>([
    ["npm", {}, /^npm ci /],
    ["bun", {}, /^bun install --frozen-lockfile$/],
    ["pnpm", { "package.json": named("pnpm@9.15.0+sha512.abc") }, / pnpm@9\.15\.0 && pnpm install --frozen-lockfile$/],
    ["pnpm", { "package.json": named("pnpm@$(id)"), "pnpm-lock.yaml": "lockfileVersion: '6.0'\n" }, / pnpm@8 &&/],
    ["pnpm", { "package.json": "no JSON", "pnpm-lock.yaml": "lockfileVersion: '9.0'\n" }, / pnpm@10 &&/],
    ["yarn", { "yarn.lock": "# yarn lockfile v1\n" }, / yarn@1 && .* yarn install --frozen-lockfile/],
    [
      "yarn",
      { "yarn.lock": "__metadata:\n  version: 8\n", "package.json": named("yarn@4.5.0") },
      /cli-dist@4\.5\.0 &&/,
    ],
    [
      "yarn",
      { "yarn.lock": "__metadata:\n", ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-3.8.1.cjs\n" },
      /@3\.8\.1 &&/,
    ],
    [
      "yarn",
      { "yarn.lock": "__metadata:\n", ".yarnrc.yml": "yarnPath: yarn-3;id.cjs\n" },
      /cli-dist@4 && yarn install --immutable$/,
    ],
    ["uv", {}, /pip install uv && uv sync --locked$/],
    ["poetry", {}, /pip install poetry && poetry install --no-interaction$/],
    ["requirements", {}, /--requirement requirements\.txt$/],
  ])("%s with %j", (name, files, line) => {
    expect(installers[name].line(files)).toMatch(line);
  });

  it.each([
    ["settings of tools only", "[tool.ruff]\n", null],
    [
      "a build",
      '[build-system]\nrequires = []\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = ["x"]',
      "--editable '.[test]'",
    ],
    [
      "no build",
      '[project]\ndependencies = ["six>=1; python_version < \'4\'"]\n[dependency-groups]\ndev = ["pytest", {include-group = "x"}]',
      String.raw`'six>=1; python_version < '\''4'\''' pytest`,
    ],
    [
      "options in place of packages",
      '[project]\ndependencies = ["--index-url=http://evil", "-r/etc/passwd", " -e ."]',
      null,
    ],
    ["no TOML", "[", "--editable ."],
  ])("pyproject.toml with %s", (_, text, packages) => {
    const line = installers.pyproject.line({ "pyproject.toml": text });
    expect(line).toBe(packages === null ? null : `python3 -m pip install ${packages}`);
  });
});
