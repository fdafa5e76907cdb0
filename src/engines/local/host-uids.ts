import { readFileSync } from "node:fs";

/** Users of the host that belong to no account: far above those of accounts and of their subordinate ranges. */
const range = { minimum: 1_900_000_000, maximum: 2_000_000_000 } as const;

/** Hands out users of the host, each to one container at a time. */
export class HostUids {
  readonly #randomInteger: (minimum: number, maximum: number) => number;
  readonly #taken = new Set<number>();

  constructor(randomInteger: (minimum: number, maximum: number) => number) {
    this.#randomInteger = randomInteger;
  }

  take(): number {
    for (;;) {
      const uid = this.#randomInteger(range.minimum, range.maximum);
      if (this.#taken.has(uid)) continue;
      this.#taken.add(uid);
      return uid;
    }
  }

  release(uid: number | null): void {
    if (uid !== null) this.#taken.delete(uid);
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
  return first <= range.minimum && first + count >= range.maximum;
}
