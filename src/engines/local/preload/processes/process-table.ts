import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

/** One process of the host. */
export interface ProcessRow {
  readonly id: number;
  readonly parent: number;
  readonly group: number;
  /** Null where the system does not tell. */
  readonly session: number | null;
}

/** All processes of the host as they are now. */
export async function readProcessTable(platform: NodeJS.Platform): Promise<readonly ProcessRow[]> {
  if (platform === "linux") return readProc();
  const { stdout } = await promisify(execFile)("/bin/ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], { env: {} });
  return parsePs(stdout);
}

/** Reads the lines of `ps -o pid=,ppid=,pgid=,stat=`; zombies are left out. */
export function parsePs(output: string): readonly ProcessRow[] {
  return [...output.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+([^Z\s]\S*)\s*$/gm)].map(([, id, parent, group]) => ({
    id: Number(id),
    parent: Number(parent),
    group: Number(group),
    session: null,
  }));
}

/**
 * Reads `/proc/N/stat`, whose name in brackets may hold anything, brackets too; null for a process that has ended and
 * is only counted still.
 */
export function parseStat(stat: string): ProcessRow | null {
  const found = /^(\d+) .*\) ([^ZX]) (\d+) (\d+) (\d+) /s.exec(stat);
  if (found === null) return null;
  const [, id, , parent, group, session] = found;
  return { id: Number(id), parent: Number(parent), group: Number(group), session: Number(session) };
}

function readProc(): readonly ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return parseStat(readFileSync(`/proc/${name}/stat`, "latin1"));
      } catch {
        // It has ended meanwhile.
        return null;
      }
    })
    .filter((row) => row !== null);
}
