import { readFileSync } from "node:fs";
import { programUser } from "../policy/profile.ts";
import { kibibyte } from "../base/bytes.ts";

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

/** A file of Glovebox's own, by its path on the engine's machine, and where a container has it. */
export interface OwnFile {
  readonly source: string;
  readonly target: string;
}

/** Where programs have a home: the one folder that each of them can write. */
const home = "/tmp";

/**
 * `/etc/passwd` of a sandbox: root, nobody, and the user that programs are, as `uid:gid`. Names give no right: nothing of an
 * image's own file is read, and no program becomes another user by one.
 */
export function passwdFile(user: string = programUser): string {
  const [uid, gid] = user.split(":") as [string, string];
  return linesOf([
    ["0", `root:x:0:0:root:${home}:/bin/sh`],
    ["65534", `nobody:x:65534:65534:nobody:${home}:/bin/sh`],
    [uid, `glovebox:x:${uid}:${gid}:glovebox:${home}:/bin/sh`],
  ]);
}

/** `/etc/group` to it. */
export function groupFile(user: string = programUser): string {
  const gid = user.split(":")[1] as string;
  return linesOf([
    ["0", "root:x:0:"],
    ["65534", "nogroup:x:65534:"],
    [gid, `glovebox:x:${gid}:`],
  ]);
}

/** `/etc/hosts` of a sandbox of that name: nothing about the machine that it is on. */
export function hostsFile(hostname: string): string {
  return `127.0.0.1 localhost ${hostname}\n::1 localhost\n`;
}

/** One limit of a process on what its user has together, by the name that `prlimit`, Docker and Podman have for it. */
export interface UserLimit {
  readonly name: "sigpending" | "msgqueue" | "memlock";
  /** As /proc/PID/limits names it. */
  readonly title: string;
  readonly value: number;
}

/**
 * What the kernel compares with the use of all programs of a user, also outside the sandbox: low enough that a project's
 * owner, on whose behalf programs run, keeps most of what the system gives each user (Linux: a pending signal for each 256
 * KiB of the machine's memory, 800 KiB of queues, 64 KiB or more of locked memory).
 *
 * Enough for three POSIX queues of the default size, and for a timer of each of a program's threads, as Go's profiler and
 * Ruby take them.
 */
export const userLimits: readonly UserLimit[] = [
  { name: "sigpending", title: "Max pending signals", value: 1_024 },
  { name: "msgqueue", title: "Max msgqueue size", value: 256 * kibibyte },
  { name: "memlock", title: "Max locked memory", value: 64 * kibibyte },
];

/** The limits as far as a process may set them whose own are these, by the text of /proc/PID/limits: nobody may raise one. */
export function userLimitsBelow(limits: string): readonly UserLimit[] {
  return userLimits.map((limit) => {
    const hard = new RegExp(`^${limit.title} +\\S+ +(\\d+)`, "m").exec(limits)?.[1];
    return hard === undefined ? limit : { ...limit, value: Math.min(limit.value, Number(hard)) };
  });
}

/** A line is the first user inside, the first one outside, and how many. */
function coversAll(line: string): boolean {
  const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
  return first <= farUids.minimum && first + count >= farUids.maximum;
}

/** The first line for each number. */
function linesOf(lines: readonly (readonly [string, string])[]): string {
  const first = lines.filter(([id], at) => lines.findIndex(([other]) => other === id) === at);
  return first.map(([, line]) => `${line}\n`).join("");
}
