import path from "node:path";

/** An absolute path for one that may begin with `~`, which means the home directory. */
export function expandHome(given: string, homeDirectory: string): string {
  return /^~(?:[\\/]|$)/.test(given) ? path.join(homeDirectory, given.slice(1)) : path.normalize(given);
}
