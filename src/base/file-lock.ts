import { truncateSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type * as Sqlite from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "./abort.ts";

export interface FileLockOptions {
  /**
   * The file that stands for the lock: empty, made when it is missing, and never removed, since a removed one would be
   * another lock than the one that somebody holds. Nothing else may open it: on closing it a process loses its lock.
   */
  readonly file: string;
  readonly signal?: AbortSignal | undefined;
  /** Called once when somebody else has it. */
  readonly onWait?: (() => void) | undefined;
}

const askEveryMs = 50;

/**
 * Takes a lock that only one holder on this machine has, in this process or another, and waits for it. The operating
 * system holds it, so that it ends with its process, however that ends. Not to be taken twice in a row.
 * @throws CANCELLED
 */
export async function takeFileLock({ file, signal, onWait }: FileLockOptions): Promise<Disposable> {
  await mkdir(path.dirname(file), { recursive: true });
  for (let tries = 0; ; tries++) {
    throwIfCancelled(signal);
    const lock = takeFreeFileLock(file);
    if (lock !== null) return lock;
    if (tries === 0) onWait?.();
    await untilCancelled(sleep(askEveryMs), signal);
  }
}

/** The same when it is free, and null when somebody has it; the file's folder must be there. */
export function takeFreeFileLock(file: string): Disposable | null {
  const database = openDatabase(file);
  try {
    // Locks an empty database and writes nothing.
    database.exec("BEGIN EXCLUSIVE");
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    database.close();
    const { errcode } = error as { readonly errcode?: number };
    if (errcode === notADatabase) {
      // Something was written into it; nobody holds it then, and emptying it keeps the same file.
      truncateSync(file);
      return takeFreeFileLock(file);
    }
    if (errcode === busy) return null;
    throw error;
  }
}

/** Result codes of SQLite. */
const busy = 5;
const notADatabase = 26;

/**
 * SQLite's locks are those of the system, on all platforms, which Node has no other call for; several holders in one
 * process are told apart, too.
 */
function openDatabase(file: string): Sqlite.DatabaseSync {
  // oxlint-disable-next-line typescript/unbound-method -- it is put back as it was
  const emitWarning = process.emitWarning;
  // Node 22 calls the module experimental, in the output of whatever program uses us.
  process.emitWarning = () => undefined;
  try {
    const { DatabaseSync: Database } = createRequire(import.meta.url)("node:sqlite") as typeof Sqlite;
    return new Database(file);
  } finally {
    process.emitWarning = emitWarning;
  }
}
