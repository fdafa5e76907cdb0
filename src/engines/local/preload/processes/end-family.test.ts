import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
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
});

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}
