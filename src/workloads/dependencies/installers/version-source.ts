import { parse } from "smol-toml";
import type { InputFiles, InstallerName } from "./installer.ts";

/** The files that say where a Python project's version comes from, and whether it is installed. */
export const versionInputs: readonly string[] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];

/** Longest file that is looked into, in characters; longer ones say nothing. */
const maxCharacters = 262_144;

/** The version that a project is installed with, because the history that has the real one is not read. */
const pretended = "0.0.0";

/** How the version of a project is taken from git's history, and what an installation does without it. */
export interface VersionSource {
  readonly tool: string;
  /** Variables by which the tool is told a version; empty: there are none, or it has a version of its own for this. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the tool takes the version from a file `PKG-INFO` in the project instead. */
  readonly readsPackageInfo: boolean;
  /** The version that is installed; null: the project's own one for this. */
  readonly version: string | null;
}

type Table = Readonly<Record<string, unknown>>;

/** A project that takes its version from git's history, by its own files; null: it does not. */
export function versionSource(files: InputFiles): VersionSource | null {
  const text = (name: string): string => {
    const content = files[name] ?? "";
    return content.length > maxCharacters ? "" : content;
  };
  return ofProject(parsed(text("pyproject.toml"))) ?? ofSetup(text("setup.py"), text("setup.cfg"));
}

/** What the caller of an installation reads of it. */
export function versionWarning({ tool, version }: VersionSource): string {
  const instead = version === null ? "the version that the project sets for that" : version;
  return `The project's version comes from git's history (${tool}), which its installation here does not read. Its version here is ${instead}, not its real one.`;
}

type Installing = { readonly line: string } | { readonly installer: InstallerName };

/** Whether an installation may build a Python project; its files need not be read otherwise. */
export function mayBuildProject(installation: Installing): boolean {
  if ("line" in installation) return projectLine.test(installation.line.slice(0, maxLineCharacters));
  return ["uv", "poetry", "requirements", "pyproject"].includes(installation.installer);
}

/** Whether it does: a list of requirements names what is in the project seldom. */
export function buildsProject(installation: Installing, files: InputFiles): boolean {
  if ("line" in installation || installation.installer !== "requirements") return mayBuildProject(installation);
  return (files["requirements.txt"] ?? "").slice(0, maxCharacters).split("\n").some(isLocalRequirement);
}

/** Longest line that is looked into, in characters: the pattern below reads the rest of a line from each `pip install`. */
const maxLineCharacters = 4_000;
const projectLine =
  /\bpip3? install\b[^\n;&|]{0,400}[ ="']\.{1,2}(?:[/[ "']|$)|\b(?:uv (?:sync|run|build)|(?:poetry|pdm) (?:install|sync|build)|tox|nox|hatch|setup\.py|python3? -m build)\b/m;

/** A line of a list of requirements that names a folder of the project. */
function isLocalRequirement(line: string): boolean {
  const wanted = line.trim().replace(/^(?:-e|--editable)[ \t=]+/, "");
  return /^\.{1,2}(?:[/[\s]|$)/.test(wanted);
}

/** A shell line that puts the version where the tool finds it, then runs the line; never where git's history lies. */
export function withPackageInfo(line: string): string {
  const text = String.raw`Metadata-Version: 2.1\nName: project\nVersion: ${pretended}\n`;
  return `[ -e .git ] || [ -e PKG-INFO ] || printf '${text}' >PKG-INFO\n${line}`;
}

/** Whether the caller has set a version by a variable of the tool. */
export function isVersionSet({ variables }: VersionSource, environment: Readonly<Record<string, string>>): boolean {
  const stems = Object.keys(variables).map((name) => name.split("_FOR_", 1)[0] ?? name);
  return Object.keys(environment).some((name) => stems.some((stem) => name.startsWith(stem)));
}

function source(tool: string, variable: string | null, own?: unknown): VersionSource {
  const hasOwn = typeof own === "string" && own !== "";
  return {
    tool,
    variables: variable === null || hasOwn ? {} : { [variable]: pretended },
    readsPackageInfo: variable === null && !hasOwn,
    version: hasOwn ? null : pretended,
  };
}

/** Tools that do not fail without history, and the version that they give then. */
function lenient(tool: string, version: string): VersionSource {
  return { tool, variables: {}, readsPackageInfo: false, version };
}

const ofScm = "SETUPTOOLS_SCM_PRETEND_VERSION";

function ofProject(file: Table): VersionSource | null {
  const tools = table(file["tool"]);
  const build = table(file["build-system"]);
  const needed = strings(build["requires"]).map((each) => /^[\w.-]+/.exec(each)?.[0] ?? "");
  const needs = new Set(needed.map((name) => name.replaceAll(/[-_.]+/g, "-")));
  const hatch = table(table(tools["hatch"])["version"]);
  const pdm = table(table(tools["pdm"])["version"]);
  const poetry = table(tools["poetry-dynamic-versioning"]);
  const byUv = table(tools["uv-dynamic-versioning"]);
  const scm = { ...table(tools["vcs-versioning"]), ...table(tools["setuptools_scm"]) };
  if (hatch["source"] === "vcs") {
    const own = hatch["fallback-version"] ?? table(hatch["raw-options"])["fallback_version"];
    return source("hatch-vcs", ofScm, own);
  }
  if (hatch["source"] === "uv-dynamic-versioning") {
    return source("uv-dynamic-versioning", "UV_DYNAMIC_VERSIONING_BYPASS", byUv["fallback-version"]);
  }
  if (hatch["source"] === "versioningit" || tools["versioningit"] !== undefined) {
    return source("versioningit", null, table(tools["versioningit"])["default-version"]);
  }
  if (pdm["source"] === "scm") return source("pdm-backend", "PDM_BUILD_SCM_VERSION", pdm["fallback_version"]);
  if (poetry["enable"] === true) return source("poetry-dynamic-versioning", "POETRY_DYNAMIC_VERSIONING_BYPASS");
  if (table(tools["setuptools-git-versioning"])["enabled"] === true)
    return lenient("setuptools-git-versioning", "0.0.1");
  if (tools["versioneer"] !== undefined) return lenient("versioneer", "0+unknown");
  if (needs.has("pbr")) return source("pbr", "PBR_VERSION");
  const isScm = needs.has("setuptools-scm") || tools["setuptools_scm"] !== undefined;
  return isScm && !hasVersion(file) ? source("setuptools-scm", scmVariable(file), scm["fallback_version"]) : null;
}

/** A version that is written down wins. */
function hasVersion(file: Table): boolean {
  return table(file["project"])["version"] !== undefined;
}

/** The variable for this project alone, so that what it needs is not built with the same version. */
function scmVariable(file: Table): string {
  const name = table(file["project"])["name"];
  if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name)) return ofScm;
  return `${ofScm}_FOR_${name.replaceAll(/[-_.]+/g, "_").toUpperCase()}`;
}

function ofSetup(setup: string, settings: string): VersionSource | null {
  const both = `${setup}\n${settings}`;
  if (/\bversioneer\b/.test(both)) return lenient("versioneer", "0+unknown");
  if (/\buse_scm_version\b|\bsetuptools_scm\b/.test(both)) return source("setuptools-scm", ofScm);
  if (/\bpbr[ \t]*=[ \t]*True\b/.test(both)) return source("pbr", "PBR_VERSION");
  return null;
}

function parsed(text: string): Table {
  try {
    return parse(text);
  } catch {
    // The installer reports what is wrong with it.
    return {};
  }
}

function table(value: unknown): Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
