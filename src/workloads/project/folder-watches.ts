import { watch, type FSWatcher } from "node:fs";
import type { HostFolder } from "../../base/host-folder.ts";

/** Watches one folder, without those in it. */
export interface FolderWatch {
  close(): void;
}

/** Told the name of what has changed in a folder; null: anything, the folder itself as well. */
export type OnChange = (name: string | null) => void;

/**
 * Watches a folder that is open, wherever its name leads to meanwhile; null where the system watches no more. What it tells
 * is a hint: systems leave out changes when there are too many.
 */
export function watchFolder(folder: HostFolder, onChange: OnChange): FolderWatch | null {
  let watcher: FSWatcher;
  try {
    // The last name is what the system calls the folder itself.
    watcher = watch(`${folder.self.replace(/\/$/, "")}/.`, { persistent: false });
  } catch {
    return null;
  }
  watcher.on("change", (_, name) => onChange(name === null || name === "." || name === "" ? null : String(name)));
  watcher.on("error", () => onChange(null));
  return watcher;
}
