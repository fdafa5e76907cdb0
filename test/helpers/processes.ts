import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Ids of the processes on this machine whose argument vector matches. */
export function processesWith(matches: (argv: readonly string[]) => boolean): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/cmdline`))
    .filter((name) => {
      try {
        return matches(readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0"));
      } catch {
        // It ended between the listing and the reading.
        return false;
      }
    })
    .map(Number);
}

/** A unique number of seconds to sleep for, by which the sleeping process can be found. */
export function uniqueSeconds(): string {
  return String(100_000 + Math.floor(Math.random() * 899_999));
}

/** Ids of the processes that sleep for this number of seconds. */
export function sleepersFor(seconds: string): number[] {
  return processesWith(([program, argument]) => program === "sleep" && argument === seconds);
}
