import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { ProjectSet } from "../../packages/project-sets.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { Installation } from "./installation.ts";
import { installerVariables } from "./installers/installer-variables.ts";
import { installers } from "./installers/installers.ts";
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
  request: Omit<KeptRequest, "install"> & DependenciesRequest,
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
  request: DependenciesRequest & { readonly line: string },
  caller: Caller,
): Promise<EndedLine | null> {
  request.onProgress(`Installing: ${request.line}`);
  const granting = request.network.grant({ kind: "registries" }, caller.principal);
  const grant = await untilCancelled(granting, caller.signal);
  const network = grant?.environment ?? {};
  const environment = { ...network, ...installerVariables(network), ...request.environment };
  const onOutput = (): undefined => undefined;
  const ended = await runLine(sandbox, { ...request, environment, grant, signal: caller.signal, onOutput });
  return ended.end.exitCode === 0 && ended.isGone && ended.end.interruption === null ? null : ended;
}

/** Why an installation failed: CANCELLED or PACKAGE_INSTALL_FAILED. */
export function explainInstallation(line: string, { end, isGone, output }: EndedLine): GloveboxError {
  if (end.interruption === "cancel") return new GloveboxError("CANCELLED", "The run was cancelled.");
  const words = shortened(output.text().trim());
  return new GloveboxError(
    "PACKAGE_INSTALL_FAILED",
    `The installation (${line.slice(0, 200)}) ${howItEnded(end, isGone)}.${words === "" ? "" : `\n${words}`}`,
    {
      suggestion:
        "Read `output`; give a `setup_command` that works with the package registries alone, or an image that has what is needed.",
    },
  );
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
