import { chown, mkdir, open } from "node:fs/promises";
import path from "node:path";
import type { MountSpec } from "../../engines/container-spec.ts";
import { shellAssignments } from "../../policy/request/environment-variables.ts";
import { GloveboxError, errorCode } from "../../errors/glovebox-error.ts";
import type { PlaceOwner } from "../../sandbox/mounts/open-place.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import { agentPaths } from "./agent-container.ts";

export interface EnvironmentFolderOptions {
  /** Creates folders that are removed with their server, even after it was killed. */
  readonly diskScratch: Pick<DiskScratch, "makeFolder">;
  readonly variables: Readonly<Record<string, string>>;
  /** User that the agent runs as: the file belongs to that user, and only that user can read it. */
  readonly user: PlaceOwner;
  /** User id of this process; null if the system has none. */
  readonly uid: number | null;
}

/** The folder with the variables of one run (SPEC EN2), which disposing removes. */
export interface EnvironmentFolder extends AsyncDisposable {
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
