import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { expandHome } from "../config/expand-home.ts";
import type { Host } from "../config/host/host.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { OpenPlace } from "../sandbox/mounts/open-place.ts";
import { openProject } from "./environments/open-project.ts";
import type { PlatformParts } from "./handling/platform-parts.ts";

/** Where agents keep conversations, settings and logs of folders that they worked in; closed to other users. */
export function agentStateDirectory({ homeDirectory }: Pick<Host, "homeDirectory">): string {
  return path.join(homeDirectory, ".glovebox", "agents");
}

/** The folder's path without links, by which it is known whatever it was called; as it was given if nothing is there. */
export async function realFolder(
  { homeDirectory, workingDirectory }: Pick<Host, "homeDirectory" | "workingDirectory">,
  given: string,
): Promise<string> {
  const whole = path.resolve(workingDirectory, expandHome(given, homeDirectory));
  return realpath(whole).catch(() => whole);
}

/**
 * Opens the folder that an agent is to work in, through the mount gate (SPEC MO5), and makes the one for its state.
 * @throws INVALID_REQUEST and POLICY_DENIED naming project_path and the rule
 */
export async function openAgentFolder(platform: PlatformParts, given: string): Promise<OpenPlace> {
  const { project, notices } = await openProject(platform, given, { readOnly: false, field: "project_path" });
  if (!project.readOnly) return project.place;
  await project.place[Symbol.asyncDispose]();
  throw new GloveboxError(
    "POLICY_DENIED",
    "project_path: an agent needs a folder that it may change, and this one is read-only.",
    {
      suggestion: notices.find((notice) => notice.startsWith("project_path: ")) ?? "Name another folder.",
      context: { field: "project_path" },
    },
  );
}

/** Makes the folder for the state of agents, as a group's folder is made by its owner. @throws PERMISSION_DENIED */
export async function makeAgentStateDirectory(host: Pick<Host, "homeDirectory">): Promise<void> {
  const directory = agentStateDirectory(host);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new GloveboxError(
      "PERMISSION_DENIED",
      "The folder for what agents keep, ~/.glovebox/agents, cannot be made.",
      {
        suggestion: "Let this user write to its home directory.",
        cause: error,
      },
    );
  }
}
