import { readFileSync } from "node:fs";

/** Numbers of users: `minimum` included, `maximum` excluded. */
export interface UidRange {
  readonly minimum: number;
  readonly maximum: number;
}

/** Users that belong to no account: far above those of accounts and of their subordinate ranges. */
export const farUids: UidRange = { minimum: 1_900_000_000, maximum: 2_000_000_000 };

/**
 * Users that belong to no account, below 65536, as far as user namespaces without root map users: in what systemd and
 * distributions leave free between the users of login screens (to 60705) and of services made on demand (from 61184).
 */
export const nearUids: UidRange = { minimum: 60_706, maximum: 61_184 };

/**
 * Hands out users, each to one container at a time unless it is asked for by its number, so that what the kernel counts for each
 * user is each container's own.
 */
export class HostUids {
  readonly #range: UidRange;
  readonly #randomInteger: (minimum: number, maximum: number) => number;
  /** How many containers have each. */
  readonly #taken = new Map<number, number>();

  constructor(range: UidRange, randomInteger: (minimum: number, maximum: number) => number) {
    this.#range = range;
    this.#randomInteger = randomInteger;
  }

  /**
   * The one that is asked for, if it is one of these, whoever else has it; else any of them, also by two containers once there are
   * more containers than users.
   */
  take(asked: number | null = null): number {
    const { minimum, maximum } = this.#range;
    if (asked !== null && asked >= minimum && asked < maximum) return this.#give(asked);
    const first = this.#randomInteger(minimum, maximum);
    let uid = first;
    while (this.#taken.has(uid)) {
      uid = uid + 1 === maximum ? minimum : uid + 1;
      if (uid === first) break;
    }
    return this.#give(uid);
  }

  release(uid: number | null): void {
    if (uid === null) return;
    const others = (this.#taken.get(uid) ?? 0) - 1;
    if (others > 0) this.#taken.set(uid, others);
    else this.#taken.delete(uid);
  }

  #give(uid: number): number {
    this.#taken.set(uid, (this.#taken.get(uid) ?? 0) + 1);
    return uid;
  }
}

/** Whether root can give them files here: not inside a user namespace that maps only a few users. */
export function hasHostUids(readFile: (path: string) => string = (path) => readFileSync(path, "utf8")): boolean {
  return ["/proc/self/uid_map", "/proc/self/gid_map"].every((path) => {
    try {
      return readFile(path).split("\n").some(coversAll);
    } catch {
      // Not Linux: there no program becomes another user.
      return true;
    }
  });
}

/** A line is the first user inside, the first one outside, and how many. */
function coversAll(line: string): boolean {
  const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
  return first <= farUids.minimum && first + count >= farUids.maximum;
}
