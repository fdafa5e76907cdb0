import type { ReadProject } from "../project/read-project.ts";
import { choosesNodeReporter, type WantedReporters } from "./inside/command-variables.ts";
import { expectsBun, projectTools, type ProjectTools } from "../dependencies/project-tools.ts";
import type { TestsSpec } from "./tests-spec.ts";

/** What a project's own files say about its tests. */
export interface ProjectPlan {
  readonly tools: ProjectTools;
  readonly reporters: WantedReporters;
  /** What is run before the tests; null: nothing. */
  readonly setupCommand: string | null;
}

/** Chooses image, installation and reporters by what is asked for and what stands in the project. */
export function planProject(
  { testCommand, setupCommand, includeIgnored }: Pick<TestsSpec, "testCommand" | "setupCommand" | "includeIgnored">,
  { names, manifest }: ReadProject,
): ProjectPlan {
  const tools = projectTools(testCommand, names);
  // Dependencies that are copied need no installation.
  const isCopied = includeIgnored && names.includes("node_modules") && tools.image !== "python";
  const install = isCopied ? null : tools.install;
  const chosen = setupCommand === undefined ? install : setupCommand.trim() === "" ? null : setupCommand;
  return {
    tools,
    setupCommand: chosen,
    reporters: {
      nodeTest: !choosesNodeReporter(testCommand) && !choosesNodeReporter(manifest),
      bun: expectsBun(`${testCommand}\n${manifest}`, names),
    },
  };
}
