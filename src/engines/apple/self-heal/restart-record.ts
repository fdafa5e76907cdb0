import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { takeFreeFileLock } from "../../../base/file-lock.ts";

/** When the service was restarted last, by this process or another of the user. */
export interface RestartRecord {
  /** Milliseconds since the epoch; null: never, as far as we know. */
  lastMs(): Promise<number | null>;
  write(atMs: number): Promise<void>;
  /** Null while another process holds it. */
  lock(): Disposable | null;
}

/** A record in a folder of the user's own. */
export function fileRecord(folder: string): RestartRecord {
  const file = path.join(folder, "restarted-at");
  return {
    lastMs: async () => {
      const text = await readFile(file, "utf8").catch(() => "");
      return /^\d{1,15}$/.test(text) ? Number(text) : null;
    },
    write: async (atMs) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await writeFile(file, String(Math.floor(atMs)), { mode: 0o600 });
    },
    lock: () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return takeFreeFileLock(path.join(folder, "restart.lock"));
    },
  };
}
