import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { familyOf, groupsOf } from "./process-family.ts";
import { readProcessTable } from "./process-table.ts";

/** Rounds in which a family may still start children while it is being killed. */
const maxRounds = 50;
const roundMs = 2;

/** Sends the signal to a program and all that it started; SIGKILL until nothing is left. */
export async function signalFamily(
  leader: number,
  signal: "SIGTERM" | "SIGKILL",
  platform: NodeJS.Platform,
): Promise<void> {
  if (platform === "win32") return runTaskkill(taskkillArguments(leader, signal));
  for (let round = 0; round < maxRounds; round++) {
    const rows = await readProcessTable(platform);
    const family = familyOf(leader, rows);
    // A group is killed at one moment: none of its members can start another meanwhile, as they can between two of our kills.
    if (signal === "SIGKILL") for (const group of groupsOf(family, rows)) send(-group, signal);
    const reached = family.filter((id) => send(id, signal));
    if (signal === "SIGTERM" || reached.length === 0) return;
    await setTimeout(roundMs);
  }
}

/** Windows ends whole trees by itself; without /F it only asks programs with windows. */
export function taskkillArguments(leader: number, signal: "SIGTERM" | "SIGKILL"): readonly string[] {
  return ["/PID", String(leader), "/T", ...(signal === "SIGKILL" ? ["/F"] : [])];
}

function send(id: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    // It has ended, or belongs to another user, which programs cannot achieve.
    return false;
  }
}

function runTaskkill(values: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    // Windows looks for a program in the folder first: one that no project can put a file into. It fails when there is nothing to end.
    execFile("taskkill", [...values], { cwd: "/", windowsHide: true }, () => resolve());
  });
}
