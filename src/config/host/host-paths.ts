import path, { isAbsolute, join } from "node:path";
import type { Host, Environment } from "./host.ts";
import { realpath } from "node:fs/promises";

/** Folder of archives of Bun that were imported, for machines without a network. */
export function bunArchives({ stateDirectory }: Pick<Host, "stateDirectory">): string {
  return path.join(stateDirectory, "bun-archives");
}

/** Folder of the user's configuration: below `XDG_CONFIG_HOME` if that is absolute, else below `~/.config`. */
export function configDirectory(environment: Environment, homeDirectory: string): string {
  const base = environment["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(base) ? base : join(homeDirectory, ".config"), "glovebox");
}

/** The longest path of a unix socket that works everywhere: macOS takes 103 bytes, Linux 107. */
const maxSocketBytes = 103;
/** Bytes of `/` and an owner's id, which follow the folder. */
const nameBytes = 25;

/**
 * Folder of the sockets by which this user's processes reach each other's sandboxes: in the state folder, or if its
 * path is too long, in a folder of this user in the temporary one. Windows needs no folder: its pipes have names.
 */
export function peerFolder({
  stateDirectory,
  temporaryDirectory,
  uid,
}: Pick<Host, "stateDirectory" | "temporaryDirectory" | "uid">): string {
  const folder = path.join(stateDirectory, "peers");
  const fits = Buffer.byteLength(folder) + nameBytes <= maxSocketBytes;
  return fits ? folder : path.join(temporaryDirectory, `glovebox-peers-${uid ?? "user"}`);
}

/** An absolute path for one that may begin with `~`, which means the home directory. */
export function expandHome(given: string, homeDirectory: string): string {
  return /^~(?:[\\/]|$)/.test(given) ? path.join(homeDirectory, given.slice(1)) : path.normalize(given);
}

/**
 * The real path of something that may not exist (yet): that of its deepest existing folder, followed by the rest
 * unchanged.
 */
export async function realPlace(given: string): Promise<string> {
  const rest: string[] = [];
  for (let place = given; ; place = path.dirname(place)) {
    const real = await existingPlace(place);
    if (real !== null) return path.join(real, ...rest);
    if (place === path.dirname(place)) return given;
    rest.unshift(path.basename(place));
  }
}

/** The real path of what exists, null if it does not exist or cannot be reached. */
export async function existingPlace(given: string): Promise<string | null> {
  try {
    return await realpath(given);
  } catch {
    // Missing, or in a folder that cannot be entered: either way it cannot be reached from here.
    return null;
  }
}
