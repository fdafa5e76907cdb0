import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { PackageCache } from "../../src/packages/package-cache.ts";
import { identityOf } from "../../src/sandbox/owners/process-identity.ts";

const program = fileURLToPath(new URL("../fixtures/uses-package-cache.ts", import.meta.url));
const processes = 6;
const seconds = Number(process.env["GLOVEBOX_TEST_STRESS_SECONDS"] ?? 12);

it(
  "the package cache has one installer of a set at a time and only whole sets, whichever processes are killed when",
  { timeout: (seconds + 60) * 1000 },
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-cache-"));
    const cacheFolder = path.join(folder, "cache");
    const marks = path.join(folder, "marks");
    mkdirSync(marks);
    const told = { installed: 0, whole: 0, killed: 0, wrong: [] as string[] };
    const ready: ChildProcess[] = [];
    const all = new Set<ChildProcess>();
    const start = (): void => {
      const child = spawn(process.execPath, [program, cacheFolder, marks], { stdio: ["ignore", "pipe", "inherit"] });
      all.add(child);
      child.once("exit", () => all.delete(child));
      createInterface(child.stdout).on("line", (line) => {
        if (!ready.includes(child)) ready.push(child);
        if (line === "installed") told.installed++;
        else if (line === "whole") told.whole++;
        else told.wrong.push(line);
      });
    };
    const ended = (child: ChildProcess): Promise<void> =>
      new Promise((resolve) => void child.once("exit", () => resolve()));
    for (let count = 0; count < processes; count++) start();
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      await new Promise((resolve) => void setTimeout(resolve, Math.random() * 60));
      // Most of them are working; starting one takes longer than its work.
      if (ready.length < processes - 2) continue;
      const victim = ready.splice(Math.floor(Math.random() * ready.length), 1)[0];
      if (victim === undefined || victim.exitCode !== null) continue;
      victim.kill("SIGKILL");
      told.killed++;
      start();
    }
    const left = [...all];
    for (const child of left) child.kill("SIGKILL");
    await Promise.all(left.map(ended));
    expect(told.wrong).toEqual([]);
    expect(told.killed).toBeGreaterThan(0);
    expect(told.installed).toBeGreaterThan(1);

    const cache = new PackageCache({
      folder: cacheFolder,
      identity: identityOf(process.pid, "host"),
      uid: process.getuid?.() ?? null,
      now: () => Date.now() + 120_000,
    });
    await cache.prune(0);
    for (const place of ["sets", "new", "old", "uses"]) expect(readdirSync(path.join(cacheFolder, place))).toEqual([]);
    await rm(folder, { recursive: true });
    if (seconds > 12) process.stdout.write(`${JSON.stringify(told)}\n`);
  },
);
