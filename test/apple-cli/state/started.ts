import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const startedFolder = "started";

/** Records that the container is being started; the daemon remembers that even after the container's end. */
export function noteStart(folder: string, id: string): void {
  mkdirSync(join(folder, startedFolder), { recursive: true });
  writeFileSync(join(folder, startedFolder, id), "");
}

/** When the container was last started, in milliseconds since the epoch; undefined: never. */
export function startOf(folder: string, id: string): number | undefined {
  return statSync(join(folder, startedFolder, id), { throwIfNoEntry: false })?.mtimeMs;
}
