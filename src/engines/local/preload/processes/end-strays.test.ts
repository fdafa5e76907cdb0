import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { endStrays } from "./end-strays.ts";

it.runIf(process.platform === "linux")(
  "finds what is left by its folder on Linux, and looks for nothing on systems that do not tell it",
  { timeout: 60_000 },
  async () => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-strays-")));
    mkdirSync(path.join(folder, "work"));
    const stray = spawn("/bin/sh", ["-c", "echo here; exec sleep 600"], {
      cwd: path.join(folder, "work"),
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const ended = once(stray, "exit");
      await once(stray.stdout, "data");
      for (const system of ["darwin", "win32"] as const) await endStrays({ folder, hostUid: null }, system);
      expect([stray.exitCode, stray.signalCode]).toEqual([null, null]);
      await endStrays({ folder, hostUid: null }, "linux");
      expect(await ended).toEqual([null, "SIGKILL"]);
    } finally {
      stray.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  },
);
