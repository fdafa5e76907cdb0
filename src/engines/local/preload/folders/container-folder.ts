import { constants } from "node:fs";
import { chmod, chown, cp, lstat, mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnTree, type TreeOwner } from "../../../../base/own-folder/remove-own-tree.ts";
import type { GuardText } from "../guards/guard-files.ts";
import { scratchPaths, type ScratchPaths } from "./scratch-paths.ts";

/**
 * A container's folder on the host: the guards, a folder for each scratch place, and a copy of each folder that it may
 * read.
 */
export interface ContainerFolder extends ScratchPaths {
  /** Real path. */
  readonly path: string;
  readonly guardFolder: string;
  readonly temporaryFolder: string;
  /** Opens the scratch places again, which a program may have closed to the next one. */
  reopen(): Promise<void>;
  remove(): Promise<void>;
}

export interface ContainerFolderOptions {
  /** A folder that no other user can write to. */
  readonly base: string;
  readonly prefix: string;
  /** Who we are. */
  readonly owner: TreeOwner;
  readonly scratch: readonly { readonly path: string }[];
  /** Folders of the host that never change. */
  readonly copies: readonly { readonly source: string; readonly target: string }[];
  readonly guards: readonly GuardText[];
  /** User whom the scratch belongs to; null: our own. */
  readonly hostUid: number | null;
}

/** Mode of scratch: its path stands in the arguments of what runs there, so it is no secret. */
const ownersOnly = 0o700;

/** Makes the folder; whatever goes wrong, nothing is left of it. */
export async function makeContainerFolder(options: ContainerFolderOptions): Promise<ContainerFolder> {
  const { guards, hostUid, copies } = options;
  // By its real path: the guards compare real paths, and macOS's own is a link.
  const path = await realpath(await mkdtemp(join(options.base, options.prefix)));
  const remove = (): Promise<void> => removeOwnTree(path, options.owner);
  try {
    // Other users must be able to go through, and only that, where programs run as somebody else.
    if (hostUid !== null) await chmod(path, 0o711);
    const guardFolder = join(path, "guard");
    for (const { folder, name, text } of guards) {
      await mkdir(join(guardFolder, folder), { recursive: true });
      await writeFile(join(guardFolder, folder, name), text, { mode: 0o444 });
    }
    const paths = { scratch: options.scratch.map((place) => place.path), readOnly: copies.map(({ target }) => target) };
    const { places, readOnly, folderOf } = scratchPaths(paths, join(path, "scratch"), join);
    for (const place of places.values()) {
      await mkdir(place, { recursive: true });
      await chmod(place, ownersOnly);
      if (hostUid !== null) await chown(place, hostUid, hostUid);
    }
    for (const { source, target } of copies) {
      // With the modes of the source, which are read-only; on some file systems it costs no room.
      await cp(source, folderOf(target), { recursive: true, mode: constants.COPYFILE_FICLONE });
    }
    const temporaryFolder = places.get("/tmp") ?? [...places.values()][0] ?? guardFolder;
    const reopen = (): Promise<void> => openPlaces([...places.values()]);
    return { path, guardFolder, temporaryFolder, places, readOnly, folderOf, reopen, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function openPlaces(places: readonly string[]): Promise<void> {
  for (const place of places) if ((await lstat(place)).isDirectory()) await chmod(place, ownersOnly);
}
