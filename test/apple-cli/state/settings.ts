import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What an installed stand-in is, written beside its executable. */
export interface Settings {
  /** Version that it behaves as, such as `1.2.2`. */
  readonly version: string;
  /** Marks everything of this installation on Docker; two of them see nothing of each other. */
  readonly scope: string;
  /** Docker underneath: `unix:///path` or `tcp://host:port`. */
  readonly dockerHost: string;
}

/** Name of the file, in the folder of the installation. */
export const settingsFile = "settings.json";

export function readSettings(folder: string): Settings {
  return JSON.parse(readFileSync(join(folder, settingsFile), "utf8")) as Settings;
}
