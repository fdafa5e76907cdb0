import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import type { SandboxRow } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { runCommand } from "../helpers/run-command.ts";

/** A separate state folder: other sandboxes on this machine stay out of sight. */
let stateHome = "";
beforeAll(() => (stateHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"))));
afterAll(() => rmSync(stateHome, { recursive: true }));

const environment = () => ({ XDG_STATE_HOME: stateHome });
const sleeper = "import time; print('up', flush=True); time.sleep(1000)";

/** Starts `glovebox run` of a program that never ends and resolves when the program runs. */
async function startSleeper(
  engine: string,
): Promise<{ pid: number; said: () => string; ended: Promise<number | null> }> {
  const child = spawn(gloveboxCommand, ["run", "--engine", engine, "-c", sleeper], {
    env: { ...process.env, ...environment(), GLOVEBOX_IMAGE_PYTHON: testImages.python },
    stdio: "pipe",
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "exit").then(([code]) => code as number | null);
  await Promise.race([
    once(child.stdout, "data"),
    ended.then((code) => {
      throw new Error(`The run ended with ${code} before its program ran: ${said}`);
    }),
  ]);
  return { pid: child.pid ?? 0, said: () => said, ended };
}

async function listed(engine: string): Promise<SandboxRow[]> {
  const { stdout, stderr } = await runCommand(["ps", "--json", "--engine", engine], { environment: environment() });
  expect(stderr).toBe("");
  const { sandboxes } = JSON.parse(stdout) as { sandboxes: SandboxRow[] };
  // Sandboxes of other tests on the same engine have their leases elsewhere, so this command does not know their owners.
  return sandboxes.filter((row) => row.owner !== "unknown");
}

describe.each(engines)("sandboxes on %s", (engine) => {
  useGlovebox(engine);

  it("shows what runs and removes it by id, wherever it was started", async () => {
    const run = await startSleeper(engine);
    const [row, ...more] = await listed(engine);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ engine, kind: "execute", principal: "local", running: true, owner: "living" });
    const removed = await runCommand(["rm", row?.sandbox_id ?? ""], { environment: environment() });
    expect(removed).toMatchObject({ exitCode: 0, stdout: `${row?.sandbox_id}\n` });
    expect(await run.ended).toBe(125);
    await expect.poll(run.said).toContain("SANDBOX_LOST: The sandbox was removed while the program ran.");
    expect(await listed(engine)).toEqual([]);
  });

  it("leaves nothing of a run whose process was killed, and leaves another's alone", async () => {
    const doomed = await startSleeper(engine);
    const other = await startSleeper(engine);
    const before = await listed(engine);
    expect(before).toHaveLength(2);
    process.kill(doomed.pid, "SIGKILL");
    await doomed.ended;
    const pruned = await runCommand(["prune", "--json"], { environment: environment() });
    expect(pruned.exitCode).toBe(0);
    const after = await listed(engine);
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ owner: "living", running: true });
    process.kill(other.pid, "SIGTERM");
    expect(await other.ended).toBe(143);
    expect(await listed(engine)).toEqual([]);
    expect(readdirSync(path.join(stateHome, "glovebox/sandboxes"))).toEqual([]);
    const gone = before.find((row) => row.sandbox_id !== after[0]?.sandbox_id);
    expect(
      execFileSync("sh", [
        "-c",
        'ls -d /sys/fs/cgroup/*/glovebox/*"$0"* 2>/dev/null || true',
        gone?.sandbox_id ?? "none",
      ]).toString(),
    ).toBe("");
  });
});

it("says which sandboxes there are when an id is wrong", async () => {
  const result = await runCommand(["rm", "sbx-nothing"], { environment: environment() });
  expect(result.exitCode).toBe(125);
  expect(result.stderr).toContain("NOT_FOUND");
});
