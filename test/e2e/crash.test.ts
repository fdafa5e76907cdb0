import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxRow } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

/** A separate state folder, so that only the owners of this test's sandboxes are known. */
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

/** A server with ten runs in progress; each runs `sleep SECONDS`. */
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
    // It ends later, in the way the test chooses.
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

      // The next start of any command sweeps; this one also waits for the sweep.
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

  it("leaves nothing after SIGKILL of glovebox serve, whose next start marks the runs in the store", async () => {
    const seconds = uniqueSeconds();
    const environment = { XDG_STATE_HOME: stateHome, MAX_CONTAINERS: "10" };
    const first = await serveGlovebox(environment, undefined, engine);
    const code = `import subprocess\nsubprocess.run(['sleep', '${seconds}'])`;
    const started = Array.from({ length: 10 }, () => {
      const headers = { authorization: `Bearer ${first.token}`, "content-type": "application/json" };
      const body = JSON.stringify({ language: "python", code, timeout_seconds: 600 });
      const init = { method: "POST", headers: { ...headers, prefer: "respond-async" }, body };
      return fetch(`${first.url}/api/sandbox/execute`, init);
    });
    expect((await Promise.all(started)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 202));
    await until(() => sleepersFor(seconds).length === 10 && runsIn(stateHome).length === 10);
    expect(runsIn(stateHome).every((run) => run.ended_ms === null)).toBe(true);
    first.child.kill("SIGKILL");
    await first.ended;

    await using _ = await serveGlovebox(environment, first.home, engine);
    const marked = { ended_ms: expect.any(Number) as number, outcome: "sandbox_lost", interrupted: 1 };
    await until(() => runsIn(stateHome).every(({ interrupted }) => interrupted === 1));
    expect(runsIn(stateHome)).toEqual(Array.from({ length: 10 }, () => marked));
    await until(async () => (await listed(engine)).length === 0);
    expect(sleepersFor(seconds)).toEqual([]);
    expect(readdirSync(path.join(stateHome, "glovebox/sandboxes"))).toEqual([]);
  });
});

interface StoredRun {
  readonly ended_ms: number | null;
  readonly outcome: string | null;
  readonly interrupted: number;
}

function runsIn(stateHome: string): StoredRun[] {
  using database = new DatabaseSync(path.join(stateHome, "glovebox/store.db"), { readOnly: true });
  const rows = database.prepare("select ended_ms, outcome, interrupted from runs").all();
  return rows.map((row) => ({ ...row }) as unknown as StoredRun);
}

/** Control groups with the sandbox's id in their name, in any hierarchy. */
function groupsOf(sandboxId: string): string {
  // Other groups disappear while it looks, and it complains about that.
  return spawnSync("find", ["/sys/fs/cgroup", "-name", `*${sandboxId}*`], { encoding: "utf8" }).stdout;
}
