import { isAbsolute, join } from "node:path";
import type { Environment } from "../layers/environment-layer.ts";

/** Folder of the user's configuration: below `XDG_CONFIG_HOME` if that is absolute, else below `~/.config`. */
export function configDirectory(environment: Environment, homeDirectory: string): string {
  const base = environment["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(base) ? base : join(homeDirectory, ".config"), "glovebox");
}
