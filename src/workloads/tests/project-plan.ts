import { chooseInstallation, type Installation } from "../dependencies/installation.ts";
import type { ReadProject } from "../project/read-project.ts";
import { choosesNodeReporter, type WantedReporters } from "./command-variables.ts";
import { expectsBun, projectTools, type ProjectTools } from "../dependencies/project-tools.ts";
import type { TestsSpec } from "./tests-spec.ts";

/** What a project's own files say about its tests. */
export interface ProjectPlan {
  readonly tools: ProjectTools;
  readonly reporters: WantedReporters;
  readonly installation: Installation;
}

/** Chooses image, installation and reporters by what is asked for and what stands in the project. */
export function planProject(
  { testCommand, setupCommand, includeIgnored }: Pick<TestsSpec, "testCommand" | "setupCommand" | "includeIgnored">,
  { names, manifest }: ReadProject,
): ProjectPlan {
  const tools = projectTools(testCommand, names);
  return {
    tools,
    installation: chooseInstallation({ setupCommand, includeIgnored, names, tools }),
    reporters: {
      nodeTest: !choosesNodeReporter(testCommand) && !choosesNodeReporter(manifest),
      bun: expectsBun(`${testCommand}\n${manifest}`, names),
    },
  };
}
