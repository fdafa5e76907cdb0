import { agentPaths } from "./agent-container.ts";
import type { RunnerInput } from "./runner-input.ts";
import type { WorkspaceFile } from "./workspace-files.ts";

/** Which of a group's possible folders exist. */
export interface PresentFolders {
  readonly project: boolean;
  readonly global: boolean;
  readonly farmState: boolean;
  readonly dashboard: boolean;
}

/** What an agent is told in addition to its prompt: where it is, what it may do, what it knows. */
export function instructionsFor(
  input: Pick<RunnerInput, "group" | "isMain" | "isFolder" | "memoryContext">,
  folders: PresentFolders,
  files: readonly WorkspaceFile[],
): string {
  const { memoryContext, isFolder = false } = input;
  const parts = [
    `You work ${forWhom(input)} in a sealed container. What you say last is ${isFolder ? "your answer" : "sent to the group"}.`,
    `## Folders\n\n${folderLines(folders, isFolder).join("\n")}`,
    [
      "## Limits",
      "",
      `- There is no network but what ${isFolder ? "you were given" : "this group may reach"}; a refused connection is a rule, not a fault to work around.`,
      ...(isFolder
        ? [
            "- Files that tools of the folder's owner run by themselves, such as .git/hooks and .vscode, cannot be changed.",
          ]
        : []),
      "- Everything outside these folders is gone when you are done.",
      "- Values of keys and tokens in the environment are secrets: never print, write or send them.",
    ].join("\n"),
    ...files.map(fileSection),
    ...(memoryContext === null ? [] : [`## From the group's memory\n\n${memoryContext.trim()}`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function forWhom({ group, isMain, isFolder }: Pick<RunnerInput, "group" | "isMain" | "isFolder">): string {
  if (isFolder === true) return "in the folder of one person,";
  const who = group === "" ? "a group of people" : `the group ${JSON.stringify(group)}`;
  return `for ${who}${isMain ? ", the main group," : ""}`;
}

function folderLines({ project, global, farmState, dashboard }: PresentFolders, isFolder: boolean): readonly string[] {
  return [
    `- ${agentPaths.group}: ${isFolder ? "the project" : "the group's own files"}; you start here and may change ${isFolder ? "it" : "them"}.`,
    ...(project ? [`- ${agentPaths.project}: the project, which you may change.`] : []),
    ...(global ? [`- ${agentPaths.global}: what all groups share; read only.`] : []),
    `- ${agentPaths.ipc}: files for the program that started you.`,
    ...(farmState ? [`- ${agentPaths.farmState}: the state of the farm.`] : []),
    ...(dashboard ? [`- ${agentPaths.dashboard}: the dashboard.`] : []),
  ];
}

function fileSection({ path, text, isCut }: WorkspaceFile): string {
  return `## ${path}\n\n${text.trim()}${isCut ? `\n\n(It goes on in the file.)` : ""}`;
}
