import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { identityOf, isAlive } from "./process-identity.ts";

const own = identityOf(process.pid, "here");

describe("isAlive", () => {
  it("is true of a process that runs, and false of another with its number", () => {
    expect(isAlive(own, own)).toBe(true);
    expect(isAlive({ ...own, startTicks: "1" }, own)).toBe(false);
  });

  it("is false when it has ended", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(child, "spawn");
    const identity = identityOf(child.pid ?? 0, "here");
    expect(isAlive(identity, own)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isAlive(identity, own)).toBe(false);
  });

  it.skipIf(!existsSync("/proc/self/stat"))("is false when it has ended and its parent never asks how", async () => {
    // The shell becomes a program that does not wait for the child it was left with.
    const parent = spawn("sh", ["-c", "sleep 1000 & echo $!; exec sleep 1000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(parent.stdout, "data")) as [Buffer];
      const identity = identityOf(Number(line.toString()), "here");
      expect(isAlive(identity, own)).toBe(true);
      while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") !== "sleep\n") await new Promise(setImmediate);
      process.kill(identity.pid, "SIGKILL");
      while (isAlive(identity, own) === true) await new Promise(setImmediate);
      expect(existsSync(`/proc/${identity.pid}`), "it is still listed").toBe(true);
    } finally {
      parent.kill("SIGKILL");
    }
  });

  it("cannot be told of a process elsewhere", () => {
    expect(isAlive({ ...own, machine: "there" }, own)).toBe(null);
  });
});
