import { createHash } from "node:crypto";
import path from "node:path";
import { takeFileLock } from "../../base/file-lock.ts";
import { Turns } from "../../base/turns.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { makePrivateFolder } from "../../base/own-folder.ts";

export interface AgentTurnsOptions {
  /** Folder with the locks of groups; created if missing, for this user only. */
  readonly folder: string;
  /** This user's id; null if the system has none. */
  readonly uid: number | null;
  /** Maximum runs of one group that wait in this process. */
  readonly maxWaiting: number;
}

/** A group with waiting or active runs. */
interface Queue {
  readonly turns: Turns;
  count: number;
}

/**
 * Runs the work of one group one at a time, across this process and all others of this user: its runs share a
 * workspace, and what the agent keeps of its conversations (SPEC AG1).
 */
export class AgentTurns {
  readonly #options: AgentTurnsOptions;
  readonly #queues = new Map<string, Queue>();

  constructor(options: AgentTurnsOptions) {
    this.#options = options;
  }

  /**
   * Does work when it is its turn. @throws CAPACITY if too many wait, CANCELLED, what the work throws
   * @param key names the group's folder on this machine
   */
  async inTurn<T>(
    key: string,
    { signal, onWait }: { readonly signal: AbortSignal | undefined; readonly onWait: () => void },
    work: () => Promise<T>,
  ): Promise<T> {
    const queue = this.#queues.get(key) ?? { turns: new Turns(), count: 0 };
    if (queue.turns.waiting >= this.#options.maxWaiting) throw tooMany(queue.turns.waiting);
    this.#queues.set(key, queue);
    queue.count += 1;
    try {
      if (!queue.turns.isFree) onWait();
      return await queue.turns.during(async () => {
        using _ = await this.#lock(key, signal, onWait);
        return await work();
      }, signal);
    } finally {
      queue.count -= 1;
      if (queue.count === 0) this.#queues.delete(key);
    }
  }

  async #lock(key: string, signal: AbortSignal | undefined, onWait: () => void): Promise<Disposable> {
    const { folder, uid } = this.#options;
    await makePrivateFolder(folder, uid);
    const file = path.join(folder, `${createHash("sha256").update(key).digest("hex")}.lock`);
    return takeFileLock({ file, signal, onWait });
  }
}

function tooMany(waiting: number): GloveboxError {
  return new GloveboxError("CAPACITY", `${waiting} runs of this group wait already.`, {
    suggestion: "Wait until one of them has ended: the runs of a group come one after another.",
    context: { retryable: true },
  });
}
