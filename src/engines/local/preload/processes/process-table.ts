import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { readProcessStat } from "../../../../base/processes/process-stat.ts";

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
  return [...output.matchAll(/^[ \t]*(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]+([^Z\s]\S*)[ \t]*$/gm)].map(
    ([, id, parent, group]) => ({
      id: Number(id),
      parent: Number(parent),
      group: Number(group),
      session: null,
    }),
  );
}

/** Those that have ended are left out. */
function readProc(): readonly ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcessStat(Number(name)))
    .filter((stat) => stat !== null)
    .filter(({ hasEnded }) => !hasEnded)
    .map(({ processId, parentId, groupId, sessionId }) => ({
      id: processId,
      parent: parentId,
      group: groupId,
      session: sessionId,
    }));
}
