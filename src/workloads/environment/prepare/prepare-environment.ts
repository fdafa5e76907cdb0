import { untilCancelled } from "../../../base/abort.ts";
import type { NetworkGrant } from "../../../egress/network-access.ts";
import { temporaryFolder } from "../../../policy/scratch.ts";
import type { ChangedToolingFile } from "../../../policy/tooling/tooling-changes.ts";
import { gapSentences } from "../../../policy/tooling/tooling-gaps.ts";
import type { SandboxPlan } from "../../../sandbox/sandbox-plan.ts";
import type { Caller } from "../../../sandbox/sandboxes.ts";
import { setupPlan } from "../environment-plan.ts";
import type { EnvironmentSpec } from "../environment-spec.ts";
import type { OpenEnvironment } from "../environment-request.ts";
import { prepareImage, type ImagePreparation, type PreparedImage } from "./prepare-image.ts";
import { environmentRootWatch, projectParts } from "../project/project-parts.ts";
import { ToolingTraces } from "../project/tooling-traces.ts";
import { installingNetwork } from "../../../policy/network/network.ts";

/** Maximum names of changed files in a warning. */
const maxNames = 20;

export interface PreparedEnvironment {
  /**
   * Each created from the one before; the environment starts from the last. None: it starts from the requested image.
   */
  readonly images: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Runs the commands that prepare an environment (SPEC MO2): `setup_commands` as root, with the project read-only, then
 * `install_commands` as the user of all its commands; both with only the package registries as their network.
 * @throws what `prepareImage` throws; no image is left then
 */
export async function prepareEnvironment(
  open: OpenEnvironment,
  { spec, plan }: { readonly spec: EnvironmentSpec; readonly plan: SandboxPlan },
  caller: Caller,
): Promise<PreparedEnvironment> {
  const { setupCommands, installCommands } = spec;
  if (setupCommands.length + installCommands.length === 0) return { images: [], warnings: [] };
  const grant = await untilCancelled(open.network.grant(installingNetwork, caller.principal), caller.signal);
  const images: string[] = [];
  const prepare = async (phase: Phase): Promise<PreparedImage> => {
    const prepared = await prepareImage(preparationOf(open, spec, { ...phase, grant }), caller);
    if (prepared.image !== null) images.push(prepared.image);
    return prepared;
  };
  try {
    if (setupCommands.length > 0) {
      await prepare({
        field: "setup_commands",
        commands: setupCommands,
        plan: setupPlan(plan),
      });
    }
    if (installCommands.length === 0) return { images, warnings: [] };
    const installPlan = { ...plan, image: images.at(-1) ?? plan.image };
    const { tooling } = await prepare({ field: "install_commands", commands: installCommands, plan: installPlan });
    return { images, warnings: [...changedWarnings(tooling.changed), ...gapSentences(tooling.gaps)] };
  } catch (error) {
    for (const image of images.toReversed()) await open.engine.images.remove(image);
    throw error;
  }
}

type Phase = Pick<ImagePreparation, "field" | "commands" | "plan">;

function preparationOf(
  open: OpenEnvironment,
  spec: EnvironmentSpec,
  phase: Phase & { readonly grant: NetworkGrant | null },
): ImagePreparation {
  const isSetup = phase.field === "setup_commands";
  // The project is read-only for setup.
  const watched = isSetup ? { lookAtTooling: undefined, growth: null } : projectParts(open, spec);
  // They get no secrets.
  const redact = (text: string): string => text;
  return {
    ...open,
    ...phase,
    ...watched,
    watchRoot: environmentRootWatch(open),
    project: spec.project,
    diskBytes: spec.limits.diskBytes,
    environmentId: spec.id,
    environment: {
      HOME: isSetup ? "/root" : temporaryFolder,
      LANG: "C.UTF-8",
      ...phase.grant?.environment,
      ...(isSetup ? {} : spec.hostEnvironment),
      ...spec.environment,
    },
    timeoutMs: spec.limits.timeoutMs,
    traces: new ToolingTraces({
      look: watched.lookAtTooling,
      onEdge: async (worked) => watched.growth?.note(worked),
      redact,
      alerts: open.toolingAlerts,
    }),
    onProgress: open.onProgress,
    redact,
  };
}

function changedWarnings(files: readonly ChangedToolingFile[]): readonly string[] {
  if (files.length === 0) return [];
  const names = files.slice(0, maxNames).map(({ path, change }) => `${JSON.stringify(path)} (${change})`);
  const more = files.length > maxNames ? ` and ${files.length - maxNames} more` : "";
  return [
    `install_commands changed files that tools of the project's owner (git, editors, shells, agents) run by themselves: ${names.join(", ")}${more}. Look at them before such a tool is used in the project.`,
  ];
}
