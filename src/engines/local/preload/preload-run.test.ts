import { describe, expect, it } from "vitest";
import {
  apartOn,
  PreloadRun,
  signalFamily,
  taskkillArguments,
  familyOf,
  groupsOf,
  parsePs,
  readProcessTable,
  memoryIntervalMs,
  parseStatus,
  readMemory,
} from "./preload-run.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { settlesWithin } from "../../../base/abort.ts";

describe("a guarded program", () => {
  it.each(["linux", "darwin"] as const)("leads a group and a session of its own on %s", (platform) => {
    expect(apartOn(platform)).toEqual({ detached: true, windowsHide: true });
  });

  it("has no window on Windows, and no console of its own", () => {
    expect(apartOn("win32")).toEqual({ detached: false, windowsHide: true });
  });

  it.each(["linux", "darwin", "win32"] as const)("that is missing ends as shells say it, on %s", async (platform) => {
    const run = new PreloadRun({
      platform,
      command: ["/nowhere/glovebox-absent"],
      environment: {},
      workingDirectory: "/",
      streams: null,
    });
    expect(await run.ended).toEqual({ exitCode: 127 });
  });
});

describe("the end of a program and all that it started", () => {
  it("is a program of its own on Windows, which asks first and then does not", () => {
    expect(taskkillArguments(42, "SIGTERM")).toEqual(["/PID", "42", "/T"]);
    expect(taskkillArguments(42, "SIGKILL")).toEqual(["/PID", "42", "/T", "/F"]);
  });

  it("is not waited for on Windows when there is nothing to end it", async () => {
    await expect(signalFamily(2 ** 22 + 1, "SIGKILL", "win32")).resolves.toBeUndefined();
  });

  /** The way of Linux, and the one by `ps`. */
  const ways = (["linux", "darwin"] as const).filter((way) => existsSync(way === "linux" ? "/proc/self" : "/bin/ps"));
  it.each(ways)("reaches a child that ignores being asked, as on %s", { timeout: 60_000 }, async (way) => {
    const script = 'trap "" TERM; sh -c \'trap "" TERM; echo $$; while :; do sleep 1; done\' & wait';
    const leader = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const ended = once(leader, "close");
    try {
      const [said] = (await once(leader.stdout, "data")) as [Buffer];
      await signalFamily(leader.pid ?? 0, "SIGTERM", way);
      expect(isAlive(Number(said))).toBe(true);
      await signalFamily(leader.pid ?? 0, "SIGKILL", way);
      // The child held the pipe, too.
      await ended;
      expect(leader.signalCode).toBe("SIGKILL");
    } finally {
      if (leader.signalCode === null) process.kill(-(leader.pid ?? 0), "SIGKILL");
    }
  });

  const perl = "/usr/bin/perl";
  it.runIf(existsSync(perl))(
    "reaches those of its group that start others and end at every moment",
    { timeout: 60_000 },
    async () => {
      const comets = "for (1 .. 12) { next if fork; while (1) { exit 0 if fork } } sleep 600";
      const leader = spawn(perl, ["-e", comets], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
      // Whatever is left of them holds the output open.
      const gone = once(leader, "close");
      await setTimeout(500);
      await signalFamily(leader.pid ?? 0, "SIGKILL", process.platform);
      const isGone = await settlesWithin(gone, 20_000);
      if (!isGone) process.kill(-(leader.pid ?? 0), "SIGKILL");
      expect(isGone, "nothing of the family is left").toBe(true);
    },
  );
});

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

const row = (id: number, parent: number, group: number, session: number | null = group) => ({
  id,
  parent,
  group,
  session,
});

describe("familyOf", () => {
  it("takes descendants, whatever their groups", () => {
    const rows = [row(1, 0, 1), row(10, 1, 10), row(11, 10, 11), row(12, 11, 12), row(20, 1, 20)];
    expect(familyOf(10, rows)).toEqual([10, 11, 12]);
  });

  it("takes orphans by their group and by their session", () => {
    const rows = [row(1, 0, 1), row(11, 1, 10, null), row(12, 1, 12, 10), row(13, 12, 13, 13), row(20, 1, 20)];
    expect(familyOf(10, rows)).toEqual([11, 12, 13]);
  });

  it("is empty for a program that left nothing", () => {
    expect(familyOf(10, [row(1, 0, 1), row(20, 1, 20)])).toEqual([]);
  });
});

it("has the groups of its members, and never those of the system", () => {
  const rows = [row(1, 0, 1), row(10, 1, 10), row(11, 10, 11), row(12, 1, 10), row(13, 10, 1), row(20, 1, 20)];
  expect(groupsOf(familyOf(10, rows), rows)).toEqual([10, 11]);
});

describe("readProcessTable", () => {
  /** The way of Linux, and the one by `ps`. */
  const ways = (["linux", "darwin"] as const).filter((way) => existsSync(way === "linux" ? "/proc/self" : "/bin/ps"));
  it.each(ways)("finds this process and its parent as on %s", async (way) => {
    const rows = await readProcessTable(way);
    expect(rows).toContainEqual(expect.objectContaining({ id: process.pid, parent: process.ppid }));
  });
});

describe("parsePs", () => {
  it("reads the lines and leaves out what has ended", () => {
    expect(parsePs("    1     0     1 Ss\n  501     1   501 R+\n  502   501   501 Z\n")).toEqual([
      { id: 1, parent: 0, group: 1, session: null },
      { id: 501, parent: 1, group: 501, session: null },
    ]);
  });
});

describe("the memory of a program", () => {
  it("is looked at often where that is cheap, and not at all where it cannot be", () => {
    expect((["linux", "darwin", "win32"] as const).map(memoryIntervalMs)).toEqual([50, 500, null]);
  });

  it("is read from what Linux tells of a process", () => {
    expect(parseStatus("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")).toEqual({
      bytes: 1_048_576,
      peakBytes: 2_097_152,
    });
    expect(parseStatus("Name:\tx\nState:\tZ (zombie)\n")).toBeNull();
  });

  /** The way of Linux, and the one by `ps`. */
  const ways = (["linux", "darwin"] as const).filter((way) => existsSync(way === "linux" ? "/proc/self" : "/bin/ps"));
  it.each(ways)("of this process is found as on %s, and none of one that is not there", async (way) => {
    expect((await readMemory(process.pid, way))?.bytes).toBeGreaterThan(1_000_000);
    expect(await readMemory(2 ** 22 + 1, way)).toBeNull();
  });
});
