import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxRow } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

/** A state folder of the test's own, so that only its own sandboxes have owners that it knows. */
let stateHome = "";
const started: ChildProcess[] = [];

beforeEach(() => {
  stateHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"));
});
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  await command(["prune", "--json"]);
  rmSync(stateHome, { recursive: true });
});

const command = (argv: readonly string[]) => runCommand(argv, { environment: { XDG_STATE_HOME: stateHome } });

/** A server with ten runs, all under way; each runs `sleep SECONDS`. */
async function startServer(engine: string, seconds: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(projectFolder, "test/fixtures/ten-runs.ts"), engine, seconds], {
    env: { ...process.env, XDG_STATE_HOME: stateHome },
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  let up = 0;
  const ended = once(child, "exit").then(() => {
    throw new Error("The server ended before its runs were under way.");
  });
  while (up < 10) {
    const [text] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
    up += text.toString().split("up").length - 1;
  }
  ended.catch(() => {
    // It ends later, as the test wants.
  });
  return child;
}

async function listed(engine: string): Promise<SandboxRow[]> {
  const { stdout } = await command(["ps", "--json", "--engine", engine]);
  return (JSON.parse(stdout) as { sandboxes: SandboxRow[] }).sandboxes.filter((row) => row.owner !== "unknown");
}

describe.each(engines)("a server with ten runs on %s", (engine) => {
  useGlovebox(engine);

  it.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
    "leaves nothing after %s and the next start, and another server's stay",
    async (signal) => {
      const [doomedSeconds, otherSeconds] = [uniqueSeconds(), uniqueSeconds()];
      const doomed = await startServer(engine, doomedSeconds);
      await startServer(engine, otherSeconds);
      const ids = (await listed(engine)).map((row) => row.sandbox_id);
      expect(ids).toHaveLength(20);
      doomed.kill(signal);
      await once(doomed, "exit");

      // The next start of anything sweeps; this one also waits for it.
      expect((await command(["prune", "--json"])).exitCode).toBe(0);

      const left = await listed(engine);
      expect(left).toHaveLength(10);
      expect(left.every((row) => row.running && row.owner === "living")).toBe(true);
      expect(sleepersFor(doomedSeconds)).toEqual([]);
      expect(sleepersFor(otherSeconds)).toHaveLength(10);
      const gone = ids.filter((id) => !left.some((row) => row.sandbox_id === id));
      expect(gone).toHaveLength(10);
      for (const id of gone) {
        expect(groupsOf(id)).toBe("");
        expect(readFileSync("/proc/mounts", "utf8")).not.toContain(id);
      }
      expect(readdirSync(path.join(stateHome, "glovebox/sandboxes"))).toHaveLength(10);
    },
  );
});

/** Control groups that carry the sandbox's id, in any hierarchy. */
function groupsOf(sandboxId: string): string {
  return execFileSync("find", ["/sys/fs/cgroup", "-name", `*${sandboxId}*`], { encoding: "utf8" });
}
