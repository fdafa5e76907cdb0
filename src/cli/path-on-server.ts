import path from "node:path";
import type { ServerAddress } from "../config/server-address.ts";
import { invalidField } from "../errors/glovebox-error.ts";

/**
 * A folder as a server knows it, whose own current folder is not the user's: on this machine a relative path, and none,
 * mean what they mean here.
 * @throws INVALID_REQUEST for a path that is not absolute, on another machine
 */
export function pathOnServer(given: string | undefined, { isLoopback }: Pick<ServerAddress, "isLoopback">): string {
  if (given !== undefined && (path.posix.isAbsolute(given) || path.win32.isAbsolute(given))) return given;
  if (isLoopback) return path.resolve(given ?? ".");
  throw invalidField("PATH", "an absolute path of a folder on the server of GLOVEBOX_URL", given ?? "nothing");
}
