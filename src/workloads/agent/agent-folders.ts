import { mkdir, chown, open } from "node:fs/promises";
import { errorCode, GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { openPlace, type OpenPlace, type PlaceOwner } from "../../sandbox/mounts/open-place.ts";
import path from "node:path";
import { decideMount } from "../../policy/mounts/decide-mount.ts";
import type { MountPolicy } from "../../policy/mounts/mount-policy.ts";
import { mountRefused } from "../../policy/mounts/mount-verdict.ts";
import type { HostMount } from "../run/host-mount.ts";
import { agentPaths } from "./agent-container.ts";
import { createHash } from "node:crypto";
import type { MountSpec } from "../../engines/container-spec.ts";
import { shellAssignments } from "../../policy/request/environment-variables.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";

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

/** How a folder below another is opened. */
interface EnterFolder {
  readonly platform: NodeJS.Platform;
  /** Its name in errors, such as `groups/family/logs`, which is not a path of this machine. */
  readonly shownAs: string;
  /** Created if missing, and given to this owner if this process may; null: it must exist. */
  readonly make: PlaceOwner | null;
}

const maxTries = 3;

/**
 * Opens a folder by name in another open folder, without following links: agents write to some of these folders, and
 * may have replaced one with a link (SPEC MO4).
 * @throws NOT_FOUND if it is missing, POLICY_DENIED if it is a link or not a folder, PERMISSION_DENIED
 */
export async function enterFolder(parent: OpenPlace, name: string, enter: EnterFolder): Promise<OpenPlace> {
  const isNew = enter.make !== null && (await makeFolder(parent, name, enter));
  const place = await openNamed(path.join(parent.realPath, name), enter);
  try {
    // Changes the open folder itself, and only one that was just created here, which nobody else has accessed.
    if (isNew && enter.make !== null && place.owner.uid === 0 && enter.make.uid !== 0) {
      await chown(place.stablePath, enter.make.uid, enter.make.gid);
      return { ...place, owner: enter.make };
    }
    return place;
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw cannotUse(enter.shownAs, error);
  }
}

/** The same for a folder that may be missing: null then. */
export async function enterIfThere(
  parent: OpenPlace,
  name: string,
  enter: Omit<EnterFolder, "make">,
): Promise<OpenPlace | null> {
  try {
    return await enterFolder(parent, name, { ...enter, make: null });
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "NOT_FOUND") return null;
    throw error;
  }
}

/** The mounts of a group's own folders, each at its fixed path (SPEC MO4); missing folders are left out. */
export function agentMounts(folders: AgentFolders, group: string): readonly HostMount[] {
  const rows: readonly [OpenPlace | null, string, boolean, string][] = [
    [folders.project, agentPaths.project, false, "agents.project"],
    [
      folders.workspace,
      agentPaths.group,
      false,
      folders.project === null ? `groups/${group}` : "agents.main_workspace",
    ],
    [folders.global, agentPaths.global, true, "groups/global"],
    [folders.state, agentPaths.state, false, `data/pi/${group}/.pi`],
    [folders.ipc, agentPaths.ipc, false, `data/ipc/${group}`],
    [folders.farmState, agentPaths.farmState, false, "agents.farm_state"],
    [folders.dashboard, agentPaths.dashboard, false, "agents.dashboard"],
  ];
  return rows.flatMap(([place, target, readOnly, shownAs]) =>
    place === null ? [] : [{ place, target, readOnly, shownAs }],
  );
}

/**
 * Refuses an operator's folder that no sandbox may have, even if it is listed (SPEC MO6): keys, engines' sockets,
 * Glovebox's own files. Here only the operator chooses the folders, never a client.
 * @throws POLICY_DENIED naming the key or the folder, and the rule
 */
export function assertMayBeMounted(policy: MountPolicy, { place, readOnly, shownAs }: HostMount): void {
  const { realPath, kind } = place;
  const root = { path: realPath, source: "project_roots", listedAs: shownAs, description: null } as const;
  const verdict = decideMount(
    { ...policy, roots: [{ ...root, allowReadWrite: true }] },
    { realPath, kind },
    {
      givenPath: realPath,
      use: "project",
      access: readOnly ? "read-only" : "read-write",
      isMain: true,
    },
  );
  if (!verdict.allowed) throw mountRefused(verdict, shownAs, shownAs);
}

/**
 * The name under which an agent's state of a folder is kept: the folder's own name as far as it can be one of a group, and a
 * hash of its whole path and of whom the run is for, so that neither two folders nor two callers share it.
 */
export function nameOfFolder(folder: string, principal: string): string {
  const own = path
    .basename(folder)
    .toLowerCase()
    .slice(0, 200)
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 40)
    .replace(/-$/, "");
  const hash = createHash("sha256").update(`${principal}\0${folder}`).digest("hex").slice(0, 16);
  return own === "" ? `folder-${hash}` : `${own}-${hash}`;
}

interface EnvironmentFolderOptions {
  /** Creates folders that are removed with their server, even after it was killed. */
  readonly diskScratch: Pick<DiskScratch, "makeFolder">;
  readonly variables: Readonly<Record<string, string>>;
  /** User that the agent runs as: the file belongs to that user, and only that user can read it. */
  readonly user: PlaceOwner;
  /** User id of this process; null if the system has none. */
  readonly uid: number | null;
}

/** The folder with the variables of one run (SPEC EN2), which disposing removes. */
interface EnvironmentFolder extends AsyncDisposable {
  readonly mount: MountSpec;
}

/** Writes the variables of one run, readable only by its agent. @throws PERMISSION_DENIED */
export async function makeEnvironmentFolder(options: EnvironmentFolderOptions): Promise<EnvironmentFolder> {
  const { diskScratch, variables, user, uid } = options;
  const { folder: own, [Symbol.asyncDispose]: dispose } = await diskScratch.makeFolder();
  // What is removed afterwards must be this user's.
  const folder = path.join(own, path.basename(agentPaths.environmentFolder));
  try {
    await mkdir(folder, { mode: 0o700 });
    const file = path.join(folder, path.basename(agentPaths.environmentFile));
    await using handle = await open(file, "wx", 0o600);
    await handle.writeFile(shellAssignments(variables));
    if (uid !== null && user.uid !== uid) {
      await handle.chown(user.uid, user.gid);
      await chown(folder, user.uid, user.gid);
    }
  } catch (error) {
    await dispose();
    throw cannotGive(error, user);
  }
  const mount = { source: folder, target: agentPaths.environmentFolder, readOnly: true };
  return { mount, [Symbol.asyncDispose]: dispose };
}

function cannotGive(error: unknown, { uid }: PlaceOwner): GloveboxError {
  return new GloveboxError(
    "PERMISSION_DENIED",
    `The variables of the agent cannot be given to user ${uid}, to whom the group's workspace belongs (${errorCode(error)}).`,
    {
      suggestion: "Let the group's folders belong to the user that runs Glovebox, or run it as root.",
      context: { reason: "environment_folder" },
      cause: error,
    },
  );
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

async function makeFolder(parent: OpenPlace, name: string, { shownAs }: EnterFolder): Promise<boolean> {
  try {
    await mkdir(path.join(parent.stablePath, name), { mode: 0o755 });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw cannotUse(shownAs, error);
  }
}

async function openNamed(expected: string, { platform, shownAs }: EnterFolder): Promise<OpenPlace> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const place = await openPlace(expected, platform).catch((error: unknown) => {
      throw cannotUse(shownAs, error);
    });
    if (place === null) continue;
    if (place.realPath === expected && place.kind === "folder") return place;
    await place[Symbol.asyncDispose]();
    throw place.realPath === expected ? refused(shownAs, "no-folder", "is no folder") : isLink(shownAs);
  }
  throw refused(shownAs, "changed", "was replaced while it was opened");
}

function cannotUse(shownAs: string, error: unknown): GloveboxError {
  const code = errorCode(error);
  if (code === "ENOENT") {
    return new GloveboxError("NOT_FOUND", `The folder ${shownAs} does not exist.`, {
      suggestion: "Make it, or correct agents.directory in the configuration.",
      context: { folder: shownAs },
      cause: error,
    });
  }
  // A link that leads to itself, or through something that is not a folder.
  if (code === "ELOOP" || code === "ENOTDIR") return isLink(shownAs);
  return new GloveboxError("PERMISSION_DENIED", `The folder ${shownAs} cannot be opened or made (${code}).`, {
    suggestion: "Give the user that runs Glovebox the rights to it.",
    context: { folder: shownAs },
    cause: error,
  });
}

function isLink(shownAs: string): GloveboxError {
  return refused(shownAs, "link", "is a link, or lies behind one; links are not followed here");
}

function refused(shownAs: string, rule: string, what: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The folder ${shownAs} ${what}.`, {
    suggestion: `Look at what is there, and put a folder of that name in its place: an agent may have replaced it.`,
    context: { folder: shownAs, rule },
  });
}
