import type { Stats } from "node:fs";

/**
 * The permissions of a file or folder of this machine inside a sandbox. Windows only has a read-only flag: from there
 * every file is executable and every folder can be entered, as with Docker's own client.
 */
export function modeOnHost(stat: Pick<Stats, "mode" | "isDirectory">, platform: NodeJS.Platform): number {
  if (platform !== "win32") return stat.mode & 0o777;
  return stat.isDirectory() || (stat.mode & 0o200) !== 0 ? 0o755 : 0o555;
}

/** The target of a link of this machine, in Linux's notation. */
export function linkTargetOnHost(target: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? target.replaceAll("\\", "/") : target;
}
