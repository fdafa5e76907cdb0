import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { SupervisorChannel } from "../channel/channel.ts";
import { FolderFiles } from "../folder-files.ts";
import type { EngineContainer } from "./engine-container.ts";

const openMode = 0o1777;
const rootMode = 0o755;
/** Who owns an image's folders; without any capability. */
const root = { user: 0, group: 0 };

/** Makes the folders that are missing, empties those that are new file systems, and opens all of them to every user. */
export async function openFolders(
  channel: SupervisorChannel,
  { openFolders: folders = [], newFileSystems = [] }: Pick<EngineContainer, "openFolders" | "newFileSystems">,
): Promise<void> {
  for (const folder of folders) {
    const itself = new FolderFiles(() => channel, { folder, ...root });
    if (newFileSystems.includes(folder)) {
      await itself.remove("lost+found").catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    }
    try {
      await itself.changeMode("", openMode);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await makeFolder(channel, folder);
      await itself.changeMode("", openMode);
    }
  }
}

async function makeFolder(channel: SupervisorChannel, folder: string): Promise<void> {
  const top = new FolderFiles(() => channel, { folder: "/", ...root });
  const make = (): Promise<void> => top.makeFolder(folder.slice(1), { makesFolders: true });
  try {
    await make();
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "PERMISSION_DENIED") throw error;
    // Some engines make the root unwritable for its own owner.
    await top.changeMode("", rootMode);
    await make();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "NOT_FOUND";
}
