import { untilCancelled } from "../../base/abort.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { checkPackages, ecosystemOf } from "../../policy/package-specs.ts";
import { chooseImage } from "../dependencies/image/choose-image.ts";
import { chooseInstallation, type Installation } from "../dependencies/installation.ts";
import { projectTools, type ImageName } from "../dependencies/project-tools.ts";
import { checkEngine } from "../program/check-engine.ts";
import { chooseToolchain } from "../program/choose-toolchain.ts";
import { providePackages } from "../program/provide-packages.ts";
import type { ProjectRunListener } from "../project/project-run.ts";
import { readProject } from "../project/read-project.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import { runWithProject } from "./run-with-project.ts";
import type {
  ProjectCommandDependencies,
  ProjectCommandResult,
  ProjectCommandRun,
  ProjectCommandSpec,
} from "./project-command.ts";

/**
 * Runs one command in a fresh sandbox that has a project of this machine itself, not a copy of it: what it writes there is
 * the owner's (SPEC UI1). A command that fails is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, ENGINE_UNAVAILABLE, CAPACITY, POLICY_DENIED for a folder
 * that was exchanged, and CANCELLED when given up before it started
 */
export function runProjectCommand(
  spec: ProjectCommandSpec,
  dependencies: ProjectCommandDependencies,
  caller: Caller,
  listener: ProjectRunListener,
): Promise<ProjectCommandResult> {
  const ids: RunIds = { principal: caller.principal };
  return loggingFailure(dependencies.logger, ids, async () => {
    const { capabilities, warnings } = await checkEngine({ ...spec, engine: dependencies.engine }, spec, caller);
    if (!capabilities.images) throw noProjects(dependencies.engine.name);
    const result = await prepareAndRun(ids, { spec, dependencies, caller, listener, capabilities });
    return { ...result, warnings: [...warnings, ...result.warnings] };
  });
}

async function prepareAndRun(ids: RunIds, run: ProjectCommandRun): Promise<ProjectCommandResult> {
  const { spec, dependencies, caller, listener, capabilities } = run;
  const { engine, network, packages } = dependencies;
  const { place, readOnly } = spec.project;
  const { names } = await readProject(place, dependencies.platform);
  const tools = projectTools(spec.command, names);
  const { installation, warnings } = installationOf(spec, { names, tools, readOnly });
  const image = await chooseImage({
    ...spec,
    project: place,
    defaultImage: spec.defaultImages[tools.image],
    hasImages: capabilities.images,
    platform: dependencies.platform,
    provideImage: dependencies.provideImage,
  });
  const language = languages[tools.image];
  const runtime = tools.image === "bun" ? "bun" : undefined;
  const toolchain = chooseToolchain({ language, runtime, usual: "node" }, capabilities, engine.name);
  const wanted = checkPackages(spec.packages, ecosystemOf(language));
  await using provided = await providePackages(
    { ...spec, packages: wanted, language, image },
    { engine, capabilities, toolchain },
    packages,
    { ...caller, ...listener },
  );
  const grant = await untilCancelled(network.grant(spec.network, caller.principal), caller.signal);
  const result = await runWithProject(ids, run, { image, installation, packages: provided, grant });
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

const languages: Readonly<Record<ImageName, "python" | "javascript">> = {
  python: "python",
  javascript: "javascript",
  bun: "javascript",
};

/** Where installers put what they install. */
const installedFolders: ReadonlySet<string> = new Set(["node_modules", ".venv"]);

/** What is already there is used as it is: it may be the owner's own. */
function installationOf(
  { setupCommand }: Pick<ProjectCommandSpec, "setupCommand">,
  project: {
    readonly names: readonly string[];
    readonly tools: ReturnType<typeof projectTools>;
    readonly readOnly: boolean;
  },
): { readonly installation: Installation; readonly warnings: readonly string[] } {
  const { names, tools, readOnly } = project;
  const isThere = names.some((name) => installedFolders.has(name));
  if (setupCommand === undefined && isThere) return { installation: null, warnings: [] };
  const installation = chooseInstallation({ setupCommand, includeIgnored: false, names, tools });
  if (!readOnly || setupCommand !== undefined || installation === null) return { installation, warnings: [] };
  const warning = "The project is read-only, so that nothing was installed by its lockfile.";
  return { installation: null, warnings: [warning] };
}

/** What is mounted could not be compared with what was checked. */
function noProjects(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} gives no command a project of this machine to change.`, {
    suggestion:
      "Use an engine with containers (`glovebox doctor` lists them), or `glovebox test`, which works on a copy of the project.",
    context: { engine, missing: "images" },
  });
}
