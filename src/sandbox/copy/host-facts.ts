import type { Stats } from "node:fs";

/**
 * Permissions that a file or folder of this machine gets in a sandbox. Windows knows only whether a file may be changed:
 * from there everything may be run and every folder entered, as Docker's own client has it.
 */
export function modeOnHost(stat: Pick<Stats, "mode" | "isDirectory">, platform: NodeJS.Platform): number {
  if (platform !== "win32") return stat.mode & 0o777;
  return stat.isDirectory() || (stat.mode & 0o200) !== 0 ? 0o755 : 0o555;
}

/** Where a link of this machine leads, as Linux writes it. */
export function linkTargetOnHost(target: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? target.replaceAll("\\", "/") : target;
}
