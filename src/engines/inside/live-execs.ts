import { untilCancelled } from "../../base/abort.ts";
import { uidOf } from "./container-users.ts";

/** What a kill must know about a running program. */
export interface LiveExec {
  /** `uid:gid` */
  readonly user: string;
  /** What distinguishes it from others of its user; null for one whose user no other program has. */
  readonly identity: ExecIdentity | null;
}

export interface ExecIdentity {
  /** Value of its variable `GLOVEBOX_EXEC`. */
  readonly mark: string;
  /** Number of its first process, once it has begun; null when that is unknown. */
  readonly number: Promise<number | null>;
}

/** The programs of one container that have not ended, and one kill at a time. */
export class LiveExecs {
  readonly #live = new Set<LiveExec>();
  #kills: Promise<void> = Promise.resolve();

  /** Enters a program that is about to be started; waits for the kill that might take it for one of its victims. */
  async enter(exec: LiveExec, signal: AbortSignal | undefined): Promise<void> {
    for (let kills; kills !== this.#kills;) {
      kills = this.#kills;
      await untilCancelled(kills, signal);
    }
    this.#live.add(exec);
  }

  leave(exec: LiveExec): void {
    this.#live.delete(exec);
  }

  has(exec: LiveExec): boolean {
    return this.#live.has(exec);
  }

  /** All others of its user. */
  beside(exec: LiveExec): readonly LiveExec[] {
    return [...this.#live].filter((other) => other !== exec && uidOf(other.user) === uidOf(exec.user));
  }

  /** Does the work while no program is being started and no other kill is in progress. */
  async alone(work: () => Promise<void>): Promise<void> {
    const done = this.#kills.then(work);
    this.#kills = done.catch(() => {
      // The caller is told.
    });
    return done;
  }
}
