import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { ProjectSet } from "../../packages/project-sets.ts";
import { installingNetwork } from "../../policy/network/network.ts";
import { afterRefusals } from "../run/explain-network.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { Installation } from "./installation.ts";
import { installerVariables } from "./installers/installer-variables.ts";
import { installers } from "./installers/installers.ts";
import {
  buildsProject,
  isVersionSet,
  mayBuildProject,
  versionInputs,
  versionSource,
  versionWarning,
  withPackageInfo,
  type VersionSource,
} from "./installers/version-source.ts";
import { provideKept, putKept, type Keeping, type KeptRequest } from "./keep/put-kept.ts";
import { readInputs } from "./read-inputs.ts";
import { runLine, type EndedLine, type RunLine } from "./run-line.ts";

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
  if (!(await isPut(sandbox, provided, caller))) return await run(line);
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

/** False where what git tracks in their place does not go together with them: installers replace it. */
async function isPut(sandbox: Sandbox, kept: ProjectSet, caller: Caller): Promise<boolean> {
  try {
    await putKept(sandbox, kept, caller);
    return true;
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "INTERNAL") return false;
    throw error;
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
