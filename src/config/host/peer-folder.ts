import path from "node:path";
import type { Host } from "./host.ts";

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
