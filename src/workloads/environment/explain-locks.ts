import type { MountSpec } from "../../engines/container-spec.ts";
import { projectFolder } from "./environment-spec.ts";

/** The system's errors for a file that is a mount point, as worded by C libraries, Node and Python. */
const refusals = /device or resource busy|resource busy or locked|read-only file system|\bEBUSY\b|\bEROFS\b/i;

/** Paths, from the project's root, that mounts lock. */
export function lockedPaths(locks: readonly MountSpec[]): readonly string[] {
  return locks.map(({ target }) => target.slice(projectFolder.length + 1));
}

/** Names in one sentence. */
const maxNames = 5;

/**
 * Detects that a command ran into a lock: git and hook installers only say that a file is busy, some of them with exit
 * code 0. `locked` are paths from the project's root.
 */
export function lockWarnings(locked: readonly string[], output: string): readonly string[] {
  const lines = output.split("\n").filter((line) => refusals.test(line));
  const met = locked.filter((path) => lines.some((line) => line.includes(path)));
  if (met.length === 0) return [];
  const names = met.slice(0, maxNames).join(", ");
  return [
    `tooling_files is locked here: commands cannot change or rename ${names}. Git commands that write to its configuration and installers of hooks fail for it, some with exit code 0; run them on the host, or create an environment with tooling_files "named".`,
  ];
}
