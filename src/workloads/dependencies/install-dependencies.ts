import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { ProjectSet } from "../../packages/project-sets.ts";
import { installingNetwork } from "../../policy/network/network.ts";
import { afterRefusals } from "../run/network-report.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { Installation } from "./project-tools.ts";
import { installerVariables } from "./tool-variables.ts";
import { installers, type InputFiles, type InstallerName } from "./installers.ts";
import { provideKept, putKept, type Keeping, type KeptRequest } from "./put-kept.ts";
import { runLine, type EndedLine, type RunLine } from "./run-line.ts";
import { isUtf8 } from "node:buffer";
import { mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { BatchFile, BatchRequest } from "../../sandbox/files/file-way.ts";
import { copyFolder } from "../project/copy-project.ts";
import { parse } from "smol-toml";

/** How many characters of a failed installer's output its error shows. */
const shownCharacters = 1_200;

/** What to install in a project's copy, and how. */
export interface DependenciesRequest extends Omit<RunLine, "line" | "grant" | "signal" | "onOutput"> {
  readonly installation: Installation;
  /** Null: nothing is kept for later runs. */
  readonly keeping: Keeping | null;
  readonly network: GrantNetwork;
  readonly onProgress: (message: string) => void;
}

/** How an installation went. */
export interface InstalledDependencies {
  /**
   * The shell line that was run, now or in an earlier run whose result was kept; null: there was nothing to install.
   */
  readonly line: string | null;
  /** How the line failed, for `explainInstallation`. */
  readonly failed: EndedLine | null;
  /** Why an optional installation failed, in one sentence. */
  readonly warnings: readonly string[];
}

/**
 * Installs what a project needs in its copy, with access to the registries until that is done; what only its lockfile
 * determines is kept for later runs. @throws what starting a command throws
 */
export async function installDependencies(
  sandbox: Sandbox,
  request: DependenciesRequest,
  caller: Caller,
): Promise<InstalledDependencies> {
  const { installation } = request;
  if (installation === null) return { line: null, failed: null, warnings: [] };
  const version = await readVersionSource(sandbox, request, caller);
  const installed = await installIn(sandbox, { ...request, installation, version }, caller);
  const isToldOf = version !== null && installed.line !== null;
  return isToldOf ? { ...installed, warnings: [...installed.warnings, versionWarning(version)] } : installed;
}

/** Where the version of a Python project comes from; null: it is written down, or the caller sets it. */
async function readVersionSource(
  sandbox: Sandbox,
  { installation, environment }: DependenciesRequest,
  { signal }: Caller,
): Promise<VersionSource | null> {
  if (installation === null || !mayBuildProject(installation)) return null;
  const { files } = await readInputs(sandbox, versionInputs, { signal });
  const found = buildsProject(installation, files) ? versionSource(files) : null;
  return found === null || isVersionSet(found, environment) ? null : found;
}

type VersionedRequest = DependenciesRequest & {
  readonly installation: NonNullable<Installation>;
  readonly version: VersionSource | null;
};

async function installIn(sandbox: Sandbox, request: VersionedRequest, caller: Caller): Promise<InstalledDependencies> {
  const { installation } = request;
  const run = async (line: string): Promise<InstalledDependencies> => ({
    line,
    failed: await runInstallation(sandbox, { ...request, line }, caller),
    warnings: [],
  });
  if ("line" in installation) return run(installation.line);
  const { inputs, line: lineOf, isOptional = false, keep } = installers[installation.installer];
  const { files, isWhole } = await readInputs(sandbox, inputs, { signal: caller.signal });
  const line = lineOf(files);
  if (line === null) return { line, failed: null, warnings: [] };
  if (isOptional) return forgiving(await run(line));
  const kept = isWhole && request.keeping !== null ? keep(files) : null;
  if (kept === null || request.keeping === null) return run(line);
  const set = { ...kept, ...request.keeping, ...request, installer: installation.installer, inputs: files };
  await using provided = await tryKept(set, caller);
  if (provided === null) return await run(line);
  request.onProgress("Taking kept dependencies");
  // What git tracks in their place goes, as it does with installers.
  await putKept(sandbox, provided, caller);
  return kept.after === null ? { line, failed: null, warnings: [] } : await run(kept.after);
}

/** The result of an optional installation; an interrupted one ended the sandbox. */
function forgiving({ line, failed, warnings }: InstalledDependencies): InstalledDependencies {
  if (line === null || failed === null || failed.end.interruption !== null || !failed.isGone)
    return { line, failed, warnings };
  const [reason = ""] = explainInstallation(line, failed).message.split("\n", 1);
  const lines = failed.output.text().trim().split("\n");
  const last = (lines.findLast((each) => /^\s*ERROR:/.test(each)) ?? lines.at(-1) ?? "").trim().slice(0, 300);
  return { line, failed: null, warnings: [`${reason} The project has no lockfile, so it goes on without. ${last}`] };
}

/** Null if the separate installation failed: with the whole project it may succeed, or say why not. */
async function tryKept(
  request: Omit<KeptRequest, "install"> & VersionedRequest,
  caller: Caller,
): Promise<ProjectSet | null> {
  const install = async (apart: Sandbox, line: string): Promise<void> => {
    const failed = await runInstallation(apart, { ...request, line }, caller);
    if (failed !== null) throw explainInstallation(line, failed);
  };
  try {
    return await provideKept({ ...request, install }, caller);
  } catch (error) {
    throwIfCancelled(caller.signal);
    const reason = error instanceof Error ? error.message : String(error);
    request.onProgress(`The dependencies are not kept: ${reason.slice(0, 300)}`);
    return null;
  }
}

/** Resolves to null if it succeeded. */
async function runInstallation(
  sandbox: Sandbox,
  request: VersionedRequest & { readonly line: string },
  caller: Caller,
): Promise<EndedLine | null> {
  request.onProgress(`Installing: ${request.line}`);
  const granting = request.network.grant(installingNetwork, caller.principal);
  const grant = await untilCancelled(granting, caller.signal);
  const network = grant?.environment ?? {};
  const { version } = request;
  // A line of the request may install a project elsewhere; what an installer builds beside the project has versions of its own.
  const variables = version?.variables ?? ("line" in request.installation ? undefined : {});
  const environment = { ...network, ...installerVariables(network, variables), ...request.environment };
  const line = version?.readsPackageInfo === true ? withPackageInfo(request.line) : request.line;
  const onOutput = (): undefined => undefined;
  const ended = await runLine(sandbox, { ...request, line, environment, grant, signal: caller.signal, onOutput });
  return ended.end.exitCode === 0 && ended.isGone && ended.end.interruption === null ? null : ended;
}

/**
 * Why an installation failed: CANCELLED or PACKAGE_INSTALL_FAILED. Its message is one line that says what failed and which
 * connections were refused, and then the installer's own words.
 */
export function explainInstallation(line: string, { end, isGone, output, networkReport }: EndedLine): GloveboxError {
  if (end.interruption === "cancel") return new GloveboxError("CANCELLED", "The run was cancelled.");
  const words = shortened(output.text().trim());
  const { denials, denialCount } = networkReport;
  const [denial] = denials;
  const first = `The installation (${oneLine(line)}) ${howItEnded(end, isGone)}${afterRefusals(denials)}.`;
  return new GloveboxError("PACKAGE_INSTALL_FAILED", words === "" ? first : `${first}\n${words}`, {
    suggestion:
      denial?.remedy ??
      "Read `output`; give a `setup_command` that works with the package registries alone, or an image that has what is needed.",
    ...(denial === undefined ? {} : { context: { denials, denial_count: denialCount } }),
  });
}

/** The beginning of a shell line that may have several. */
function oneLine(line: string): string {
  return line.slice(0, 200).replaceAll(/\s+/g, " ");
}

/** Some installers print the error first, others last. */
function shortened(text: string): string {
  const half = shownCharacters / 2;
  return text.length <= shownCharacters ? text : `${text.slice(0, half)}\n...\n${text.slice(-half)}`;
}

function howItEnded({ interruption, exitCode }: EndedLine["end"], isGone: boolean): string {
  if (interruption === "timeout") return "took too long";
  return isGone ? `ended with exit code ${exitCode ?? "unknown"}` : "left something running";
}

const maxFileBytes = 16 * mebibyte;
const maxBytes = 32 * mebibyte;

/** The files that an installer reads from a project's copy. */
interface ReadInputs {
  readonly files: InputFiles;
  /** Whether that is everything requested: nothing was too large, unreadable or not text. */
  readonly isWhole: boolean;
}

/** Empty if the image lacks the tools to read many files at once. */
async function readBatch({ files }: Pick<Sandbox, "files">, request: BatchRequest): Promise<readonly BatchFile[]> {
  try {
    return await files.readBatch(copyFolder, request);
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "UNSUPPORTED") return [];
    throw error;
  }
}

/**
 * Reads files of the copy, so files that were left out of it are not read either. @throws what `SandboxFiles.readBatch`
 * throws
 */
async function readInputs(
  sandbox: Pick<Sandbox, "files">,
  paths: readonly string[],
  { signal }: CallOptions,
): Promise<ReadInputs> {
  const read = await readBatch(sandbox, { paths, maxFileBytes, maxBytes, signal });
  const files: Record<string, string> = {};
  let isWhole = read.length === paths.length;
  for (const [index, { sizeBytes, unreadable, bytes }] of read.entries()) {
    const name = paths[index] ?? "";
    if (bytes !== null && isUtf8(bytes)) files[name] = Buffer.from(bytes).toString("utf8");
    else if (unreadable || sizeBytes !== null) isWhole = false;
  }
  return { files, isWhole };
}

/** The files that say where a Python project's version comes from, and whether it is installed. */
const versionInputs: readonly string[] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];

/** Longest file that is looked into, in characters; longer ones say nothing. */
const maxCharacters = 262_144;

/** The version that a project is installed with, because the history that has the real one is not read. */
const pretended = "0.0.0";

/** How the version of a project is taken from git's history, and what an installation does without it. */
interface VersionSource {
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
