import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Numbers of the processes of this machine whose argument vector is as described. */
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

/** A number of seconds to sleep for that no other process sleeps for, so that it can be found by it. */
export function uniqueSeconds(): string {
  return String(100_000 + Math.floor(Math.random() * 899_999));
}

/** Processes that sleep for this number of seconds. */
export function sleepersFor(seconds: string): number[] {
  return processesWith(([program, argument]) => program === "sleep" && argument === seconds);
}
