import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The settings of an installed stand-in, written next to its executable. */
export interface Settings {
  /** Version whose behaviour it imitates, such as `1.2.2`. */
  readonly version: string;
  /** Marks everything of this installation on Docker; two installations do not see each other. */
  readonly scope: string;
  /** Docker underneath: `unix:///path` or `tcp://host:port`. */
  readonly dockerHost: string;
}

/** Name of the file, in the folder of the installation. */
export const settingsFile = "settings.json";

export function readSettings(folder: string): Settings {
  return JSON.parse(readFileSync(join(folder, settingsFile), "utf8")) as Settings;
}
