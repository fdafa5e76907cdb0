import { mkdir } from "node:fs/promises";
import { errorCode } from "../../../errors/error-code.ts";
import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import { openPlace, type OpenPlace, type PlaceOwner } from "../../../sandbox/mounts/open-place.ts";
import { enterFolder, enterIfThere } from "./own-folder.ts";

/** Where the folders of all groups are; all paths are absolute. */
export interface AgentFolderPaths {
  readonly directory: string;
  readonly project: string;
  readonly mainWorkspace: string;
  readonly farmState: string | null;
  readonly dashboard: string | null;
}

/** Whom an agent works for: a group of people, or whoever owns a folder. */
export interface AgentGroup {
  /** Checked by `checkGroupName`. */
  readonly name: string;
  readonly isMain: boolean;
  /** Whether it is configured: then its folder is created. */
  readonly isConfigured: boolean;
  /** Opens the folder that the agent works in instead of one of a group's own; the run closes it. Undefined: a group's. */
  readonly openFolder?: (() => Promise<OpenPlace>) | undefined;
}

/** The folders of one group's run, all held open until this is disposed. */
export interface AgentFolders extends AsyncDisposable {
  /** What the agent has at `/workspace/group`. */
  readonly workspace: OpenPlace;
  /** Null for every group except the main one. */
  readonly project: OpenPlace | null;
  /** What all groups can read; null if there is none, and for the main group. */
  readonly global: OpenPlace | null;
  readonly state: OpenPlace;
  readonly ipc: OpenPlace;
  readonly logs: OpenPlace;
  readonly farmState: OpenPlace | null;
  readonly dashboard: OpenPlace | null;
}

/**
 * Opens all folders of a group's run, and creates missing ones (SPEC MO4). Below `directory` no link is followed.
 * @throws NOT_FOUND for an unknown group, POLICY_DENIED for a link in a folder's place, PERMISSION_DENIED
 */
export async function openAgentFolders(
  paths: AgentFolderPaths,
  group: AgentGroup,
  platform: NodeJS.Platform,
): Promise<AgentFolders> {
  const held: OpenPlace[] = [];
  const dispose = async (): Promise<void> => {
    for (const place of held.toReversed()) await place[Symbol.asyncDispose]();
  };
  const hold = (place: OpenPlace): OpenPlace => {
    held.push(place);
    return place;
  };
  try {
    return { ...(await openEach(paths, group, { platform, hold })), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface Opening {
  readonly platform: NodeJS.Platform;
  /** Keeps a place until all are closed. */
  readonly hold: (place: OpenPlace) => OpenPlace;
}

async function openEach(
  paths: AgentFolderPaths,
  group: AgentGroup,
  opening: Opening,
): Promise<Omit<AgentFolders, typeof Symbol.asyncDispose>> {
  const { platform, hold } = opening;
  const { name, isMain, openFolder } = group;
  const root = hold(await openConfigured(paths.directory, "agents.directory", platform));
  const own = await openGroup(root, group, opening);
  const ofGroup = async (): Promise<OpenPlace> =>
    isMain ? hold(await openWorkspace(paths.mainWorkspace, platform)) : own.folder;
  const workspace = openFolder === undefined ? await ofGroup() : hold(await openFolder());
  const make = workspace.owner;
  const sharesGlobal = !isMain && openFolder === undefined;
  const global = sharesGlobal ? await enterIfThere(own.groups, "global", { platform, shownAs: "groups/global" }) : null;
  const openOptional = async (given: string | null, field: string): Promise<OpenPlace | null> =>
    given === null ? null : hold(await openConfigured(given, field, platform));
  return {
    workspace,
    project: isMain ? hold(await openConfigured(paths.project, "agents.project", platform)) : null,
    global: global && hold(global),
    state: await enterEach(root, ["data", "pi", name, ".pi"], { make, ...opening }),
    ipc: await enterEach(root, ["data", "ipc", name], { make, ...opening }),
    logs: hold(await enterFolder(own.folder, "logs", { platform, shownAs: `groups/${name}/logs`, make })),
    farmState: await openOptional(paths.farmState, "agents.farm_state"),
    dashboard: await openOptional(paths.dashboard, "agents.dashboard"),
  };
}

async function enterEach(
  from: OpenPlace,
  names: readonly string[],
  { platform, hold, make }: Opening & { readonly make: PlaceOwner },
): Promise<OpenPlace> {
  let place = from;
  for (const [index, name] of names.entries()) {
    const shownAs = names.slice(0, index + 1).join("/");
    place = hold(await enterFolder(place, name, { platform, shownAs, make }));
  }
  return place;
}

async function openGroup(
  root: OpenPlace,
  { name, isConfigured, isMain }: AgentGroup,
  { platform, hold }: Opening,
): Promise<{ readonly groups: OpenPlace; readonly folder: OpenPlace }> {
  const make = isConfigured || isMain ? root.owner : null;
  try {
    const groups = hold(await enterFolder(root, "groups", { platform, shownAs: "groups", make }));
    const folder = hold(await enterFolder(groups, name, { platform, shownAs: `groups/${name}`, make }));
    return { groups, folder };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "NOT_FOUND") throw error;
    throw new GloveboxError("NOT_FOUND", `There is no group ${name}.`, {
      suggestion: `Make the folder groups/${name}, or list the group in agents.groups of the configuration.`,
      context: { field: "group" },
      cause: error,
    });
  }
}

async function openWorkspace(given: string, platform: NodeJS.Platform): Promise<OpenPlace> {
  try {
    await mkdir(given, { recursive: true });
  } catch {
    // Opening it reports what is wrong.
  }
  return openConfigured(given, "agents.main_workspace", platform);
}

/** A folder named by the operator may be a link: nobody else can change the setting. */
async function openConfigured(given: string, field: string, platform: NodeJS.Platform): Promise<OpenPlace> {
  const place = await openPlace(given, platform).catch((error: unknown) => {
    throw invalidField(field, "a folder that can be opened", errorCode(error));
  });
  if (place?.kind === "folder") return place;
  await place?.[Symbol.asyncDispose]();
  throw invalidField(field, "a folder", place === null ? "one that is being replaced" : "something else");
}
