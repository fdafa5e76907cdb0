import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { settlesWithin } from "../../../../base/abort.ts";
import { signalFamily, taskkillArguments } from "./end-family.ts";

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
