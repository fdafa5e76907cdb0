import { spawn } from "node:child_process";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { readFromThreads } from "../../../../base/processes/read-from-threads.ts";

/** How a process is recognised as a container's, however it got away from the program that started it. */
export interface StrayMarks {
  /** The container's folder: where its programs start. */
  readonly folder: string;
  /** The user that only this container's programs are; null: they are ourselves. */
  readonly hostUid: number | null;
}

const maxRounds = 50;
const roundMs = 2;

/** Kills what is left of a container's programs; on Linux, where processes can be told by their folder and user. */
export async function endStrays(marks: StrayMarks, platform: NodeJS.Platform): Promise<void> {
  if (platform !== "linux") return;
  // First, since a look at all processes can miss those that end and start others meanwhile.
  if (marks.hostUid !== null) await killAllOf(marks.hostUid);
  for (let round = 0; round < maxRounds; round++) {
    const strays = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isStray(name, marks));
    if (strays.length === 0) return;
    for (const stray of strays) kill(Number(stray));
    await setTimeout(roundMs);
  }
}

function isStray(id: string, { folder, hostUid }: StrayMarks): boolean {
  const place = readFromThreads(Number(id), readPlace);
  // Processes that have ended have no folder any more.
  if (place === null) return false;
  if (place.startsWith(`${folder}/`)) return true;
  try {
    return hostUid !== null && statSync(`/proc/${id}`).uid === hostUid;
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** Null of a thread that has ended, and of another user's. */
function readPlace(thread: string): string | null {
  try {
    return readlinkSync(`${thread}/cwd`);
  } catch {
    return null;
  }
}

/** Kills all processes of a user at one moment, so that none of them can start another meanwhile. */
async function killAllOf(uid: number): Promise<void> {
  const killer = spawn("/bin/sh", ["-c", "kill -KILL -1"], { uid, gid: uid, cwd: "/", env: {}, stdio: "ignore" });
  // Where it cannot be started, what a look finds is killed one by one.
  await new Promise<void>((resolve) => killer.once("error", () => resolve()).once("exit", () => resolve()));
}

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
