import path from "node:path";
import type { Config } from "../config/config.ts";
import { configDirectory } from "../config/host/config-directory.ts";
import type { Host } from "../config/host/host.ts";
import { expandHome } from "../config/expand-home.ts";

/** Where this server's keys are stored. */
export interface KeysPlace {
  readonly path: string;
  /** Whether it is the user's own file, which `glovebox keys` writes; a deployment's is never written. */
  readonly isOwn: boolean;
  readonly uid: number | null;
}

/** The file that the configuration names (`keys_file`), else the user's own in the configuration folder. */
export function keysPlace(
  { keysFile }: Pick<Config, "keysFile">,
  { environment, homeDirectory, uid }: Pick<Host, "environment" | "homeDirectory" | "uid">,
): KeysPlace {
  return keysFile === null
    ? { path: path.join(configDirectory(environment, homeDirectory), "keys.json"), isOwn: true, uid }
    : { path: expandHome(keysFile, homeDirectory), isOwn: false, uid };
}
