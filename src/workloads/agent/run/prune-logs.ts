import { opendir, unlink } from "node:fs/promises";
import { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import type { OpenPlace } from "../../../sandbox/mounts/open-place.ts";

export interface LogsToPrune {
  readonly folder: Pick<OpenPlace, "stablePath">;
  readonly platform: NodeJS.Platform;
  /** Newest ones that stay. */
  readonly maxLogs: number;
  /** Name of the file that is being written, which stays and counts. */
  readonly current: string;
}

/** Names of logs of runs: when it began, and a number where several began at once. */
const logName = /^container-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(?:-(\d{1,3}))?\.log$/;

/** Whatever an agent has made of the folder: what lies beyond waits for a later run. */
const maxEntries = 10_000;

/**
 * Removes the oldest logs of a group's runs. To be called while no agent of the group works: the folder is the agent's
 * too. What has another name stays, and a link in a log's place goes without what it leads to. Never rejects: logs that
 * stay do no harm.
 */
export async function pruneLogs({ folder, platform, maxLogs, current }: LogsToPrune): Promise<void> {
  try {
    await using held = await HostFolder.of(folder, platform);
    const others: string[] = [];
    let entries = 0;
    for await (const { name } of await opendir(held.self)) {
      if (logName.test(name) && name !== current) others.push(name);
      if ((entries += 1) >= maxEntries) break;
    }
    const old = others.toSorted(byTime).slice(0, Math.max(0, others.length - (maxLogs - 1)));
    for (const name of old) await unlink(held.at(name)).catch(() => undefined);
  } catch {
    // Moved away, or not for this user's eyes: the next run looks again.
  }
}

/** Of two at the same moment the one without a number, or with the lower one, is the older. */
function byTime(one: string, other: string): number {
  const [, time = "", count = "0"] = logName.exec(one) ?? [];
  const [, otherTime = "", otherCount = "0"] = logName.exec(other) ?? [];
  if (time === otherTime) return Number(count) - Number(otherCount);
  return time < otherTime ? -1 : 1;
}
