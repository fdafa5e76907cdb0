import { describe, expect, it } from "vitest";
import {
  buildsProject,
  isVersionSet,
  mayBuildProject,
  versionSource,
  versionWarning,
  withPackageInfo,
} from "./install-dependencies.ts";

const project = (text: string): ReturnType<typeof versionSource> => versionSource({ "pyproject.toml": text });
const scm = `[build-system]\nrequires = ["setuptools>=64", "setuptools_scm[toml]>=8"]\n`;

describe("versionSource", () => {
  it.each([
    [
      "setuptools-scm",
      `${scm}[project]\nname = "My.own-project"\ndynamic = ["version"]`,
      { SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_OWN_PROJECT: "0.0.0" },
    ],
    ["setuptools-scm", `${scm}[tool.setuptools_scm]\nwrite_to = "x.py"`, { SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0" }],
    ["hatch-vcs", `[tool.hatch.version]\nsource = "vcs"`, { SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0" }],
    [
      "uv-dynamic-versioning",
      `[tool.hatch.version]\nsource = "uv-dynamic-versioning"`,
      { UV_DYNAMIC_VERSIONING_BYPASS: "0.0.0" },
    ],
    ["pdm-backend", `[tool.pdm.version]\nsource = "scm"`, { PDM_BUILD_SCM_VERSION: "0.0.0" }],
    [
      "poetry-dynamic-versioning",
      `[tool.poetry-dynamic-versioning]\nenable = true`,
      { POETRY_DYNAMIC_VERSIONING_BYPASS: "0.0.0" },
    ],
    ["pbr", `[build-system]\nrequires = ["pbr>=6"]`, { PBR_VERSION: "0.0.0" }],
  ])("of %s by pyproject.toml tells the tool a version", (tool, text, variables) => {
    expect(project(text)).toEqual({ tool, variables, readsPackageInfo: false, version: "0.0.0" });
  });

  it.each([
    ["setup.py", "setup(use_scm_version=True)", "setuptools-scm", "SETUPTOOLS_SCM_PRETEND_VERSION"],
    ["setup.cfg", "setup_requires = setuptools_scm", "setuptools-scm", "SETUPTOOLS_SCM_PRETEND_VERSION"],
    ["setup.py", "setuptools.setup(setup_requires=['pbr'], pbr=True)", "pbr", "PBR_VERSION"],
    ["setup.cfg", "[versioneer]\nVCS = git", "versioneer", undefined],
  ])("is found in %s: %s", (name, text, tool, variable) => {
    const found = versionSource({ [name]: text });
    expect(found?.tool).toBe(tool);
    expect(Object.keys(found?.variables ?? {})).toEqual(variable === undefined ? [] : [variable]);
  });

  it("leaves a project the version that it sets for an absent history", () => {
    for (const text of [
      `${scm}[tool.setuptools_scm]\nfallback_version = "1.2"`,
      `[tool.hatch.version]\nsource = "vcs"\nfallback-version = "1.2"`,
      `[tool.hatch.version]\nsource = "vcs"\nraw-options = { fallback_version = "1.2" }`,
      `[tool.pdm.version]\nsource = "scm"\nfallback_version = "1.2"`,
      `[tool.versioningit]\ndefault-version = "1.2"`,
    ]) {
      expect(project(text)).toMatchObject({ variables: {}, readsPackageInfo: false, version: null });
    }
  });

  it("has a file for a tool that knows no variable", () => {
    expect(project("[tool.versioningit]")).toMatchObject({ variables: {}, readsPackageInfo: true, version: "0.0.0" });
    expect(withPackageInfo("pip install .")).toMatch(/^\[ -e \.git \] \|\| .*PKG-INFO\npip install \.$/);
  });

  it.each([
    "",
    "[project]\nname = 'a'\nversion = '1'",
    `${scm}[project]\nname = "a"\nversion = "1"`,
    "[tool.hatch.version]\npath = 'a.py'",
    "[tool.poetry-dynamic-versioning]\nenable = false",
    "[[[",
    `# ${"x".repeat(262_144)}\n[tool.versioningit]`,
  ])("is none for a project whose version is written down: %.60s", (text) => {
    expect(project(text)).toBeNull();
  });

  it("yields to a version that the caller sets", () => {
    const found = project(`${scm}[project]\nname = "a"`);
    expect(found !== null && isVersionSet(found, { SETUPTOOLS_SCM_PRETEND_VERSION: "3" })).toBe(true);
    expect(found !== null && isVersionSet(found, { SETUPTOOLS_SCM_PRETEND_VERSION_FOR_A: "3" })).toBe(true);
    expect(found !== null && isVersionSet(found, { PATH: "/bin" })).toBe(false);
    const without = versionSource({ "setup.py": "import versioneer" });
    expect(without !== null && isVersionSet(without, { PATH: "/bin" })).toBe(false);
  });

  it.each([
    ["pip install -e .", true],
    ["python3 -m pip install --quiet '.[dev]' && echo", true],
    ["pip install ../lib", true],
    ["cd a; uv sync --locked", true],
    ["python setup.py develop", true],
    ["pip install -r requirements.txt", false],
    ["pip install .x", false],
    ["npm ci", false],
    ["pip install numpy; echo . x", false],
  ])("matters to a line that builds the project: %s", (line, isBuilt) => {
    expect(buildsProject({ line }, {})).toBe(isBuilt);
  });

  it("matters to an installer that builds the project", () => {
    const requirements = { installer: "requirements" } as const;
    for (const text of ["numpy\n-e .\n", ".", "--editable=./lib", " .[test]\r\n"]) {
      expect([text, buildsProject(requirements, { "requirements.txt": text })]).toEqual([text, true]);
    }
    expect(buildsProject(requirements, { "requirements.txt": "numpy\n# .\n" })).toBe(false);
    expect(buildsProject({ installer: "pyproject" }, {})).toBe(true);
    expect(mayBuildProject({ installer: "npm" })).toBe(false);
  });

  it("is said in a sentence", () => {
    const found = versionSource({ "setup.py": "import versioneer" });
    expect(found === null ? "" : versionWarning(found)).toBe(
      "The project's version comes from git's history (versioneer), which its installation here does not read. Its version here is 0+unknown, not its real one.",
    );
  });
});
