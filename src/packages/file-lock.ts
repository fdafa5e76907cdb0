import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../base/abort.ts";
import { createId } from "../base/id.ts";
import { isAlive, type ProcessIdentity } from "../sandbox/process-identity.ts";

export interface FileLockOptions {
  /** The file that stands for the lock; its folder is made when it is missing. */
  readonly file: string;
  /** This process. */
  readonly identity: ProcessIdentity;
  readonly signal?: AbortSignal | undefined;
  /** Called once when somebody else has it. */
  readonly onWait?: (() => void) | undefined;
}

const askEveryMs = 50;

/**
 * Takes a lock that only one holder on this machine has, in this process or another, and waits for it. One whose process
 * has died is taken over. Of two that take it over in the same instant both may get it: whoever uses it must stay safe
 * then, and only do work twice.
 * @throws CANCELLED
 */
export async function takeFileLock(options: FileLockOptions): Promise<AsyncDisposable> {
  const { file, identity, signal, onWait } = options;
  await mkdir(path.dirname(file), { recursive: true });
  const own = `${file}.${createId("lock")}`;
  await writeFile(own, JSON.stringify(identity), { mode: 0o600 });
  try {
    for (let tries = 0; !(await take(own, file)); tries++) {
      throwIfCancelled(signal);
      if (tries === 0) onWait?.();
      if (!(await removeIfDead(file, identity))) await untilCancelled(sleep(askEveryMs), signal);
    }
  } finally {
    await rm(own, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

/** A link appears at once and with its content, or not at all. */
async function take(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Whether the lock may be free now. */
async function removeIfDead(file: string, own: ProcessIdentity): Promise<boolean> {
  let holder: ProcessIdentity;
  try {
    holder = JSON.parse(await readFile(file, "utf8")) as ProcessIdentity;
  } catch (error) {
    // Given back meanwhile; what is no lock of ours is nobody's.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    await rm(file, { force: true });
    return true;
  }
  if (isAlive(holder, own) !== false) return false;
  const aside = `${file}.${createId("dead")}`;
  await rename(file, aside).catch(() => {
    // Somebody else was first.
  });
  await rm(aside, { force: true });
  return true;
}
