import { opendir, unlink } from "node:fs/promises";
import { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import type { OpenPlace } from "../../../sandbox/mounts/open-place.ts";

export interface LogsToPrune {
  readonly folder: Pick<OpenPlace, "stablePath">;
  readonly platform: NodeJS.Platform;
  /** How many of the newest ones to keep. */
  readonly maxLogs: number;
  /** Name of the file that is being written, which is kept and counts. */
  readonly current: string;
}

/** Names of run logs: the start time, and a number if several started at the same time. */
const logName = /^container-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(?:-(\d{1,3}))?\.log$/;

/** A limit in case an agent filled the folder; the rest waits for a later run. */
const maxEntries = 10_000;

/**
 * Removes the oldest logs of a group's runs. Call this while no agent of the group is running, as agents can write to
 * the folder. Files with other names are kept; a link in a log's place is removed, but not its target. Never rejects:
 * leftover logs do no harm.
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
    // Moved away, or unreadable for this user: the next run tries again.
  }
}

/** Of two with the same time, the one without a number or with the lower one is older. */
function byTime(one: string, other: string): number {
  const [, time = "", count = "0"] = logName.exec(one) ?? [];
  const [, otherTime = "", otherCount = "0"] = logName.exec(other) ?? [];
  if (time === otherTime) return Number(count) - Number(otherCount);
  return time < otherTime ? -1 : 1;
}
