import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { settlesWithin } from "../../../base/abort.ts";
import { endStrays } from "./preload-launcher.ts";

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

/** Every Debian has it; shells are too slow to be missed by a look. */
const perl = "/usr/bin/perl";
/** Starts itself again and ends, at every moment: what is killed one by one has a child by then. */
const comet = "while (1) { exit 0 if fork }";

it.runIf(process.platform === "linux" && process.getuid?.() === 0 && existsSync(perl))(
  "ends a user's programs that start others and end at every moment, which no look at all processes finds",
  { timeout: 60_000 },
  async () => {
    const uid = 1_899_999_999;
    const as = { uid, gid: uid, cwd: "/" };
    try {
      // Whatever is left of them holds their output open.
      const gone = Array.from({ length: 12 }, () =>
        once(spawn(perl, ["-e", comet], { ...as, stdio: ["ignore", "pipe", "ignore"] }), "close"),
      );
      await setTimeout(500);
      await endStrays({ folder: "/nowhere", hostUid: uid }, "linux");
      expect(await settlesWithin(Promise.all(gone), 20_000), "nothing of the user's is left").toBe(true);
    } finally {
      await once(spawn("/bin/sh", ["-c", "kill -KILL -1"], { ...as, stdio: "ignore" }), "exit");
    }
  },
);
