import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import type { OperationEvent } from "../../src/operations/contract/wire-values.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

const run = promisify(execFile);
/** Milliseconds after the program's last line: while it ends, and while what it left is read. */
const moments = [0, 50, 100];

const writesTwo = `
open("plot.png", "wb").write(b"x" * 300_000)
open("table.csv", "w").write("x" * 3_000)
print("OK", flush=True)`;
const unittest = "import unittest\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n        assert 1 + 1 == 2\n";

/** Has the engine kill a run's container, whoever asked for it, so long after its first output that says OK. */
function killerAfter(engine: string, delayMs: number) {
  let sandbox = "";
  let killing: Promise<unknown> | undefined;
  return {
    onEvent: (event: OperationEvent) => {
      if (event.type === "sandbox") sandbox = event.sandboxId;
      if (event.type !== "output" || killing !== undefined || !Buffer.from(event.bytes).includes("OK")) return;
      killing = sleep(delayMs).then(async () => {
        const { stdout } = await run(engine, ["ps", "--quiet", "--filter", `label=glovebox.sandbox=${sandbox}`]);
        for (const id of stdout.split("\n").filter(Boolean)) await run(engine, ["kill", id]).catch(() => undefined);
      });
    },
    done: () => killing,
  };
}

describe.each(["docker", "podman"] as const)("a sandbox on %s that is killed as its program ends", (engine) => {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  afterAll(() => rmSync(folder, { recursive: true }));
  const glovebox = useGlovebox(engine, { workingDirectory: folder, settings: { images: testImages } });
  const project_path = path.join(folder, "project");
  mkdirSync(project_path);
  writeFileSync(path.join(project_path, "test_sum.py"), unittest);

  it.each(moments)("gives its output, and all artifacts or none, %i ms after its last line", async (delayMs) => {
    const { onEvent, done } = killerAfter(engine, delayMs);
    const request = { language: "python" as const, code: writesTwo, artifacts: ["*"] };
    const response = await glovebox().execute(request, { onEvent });
    await done();
    expect(response.stdout).toBe("OK\n");
    const { outcome, error, artifacts = [] } = response;
    const ends = ["completed, none, 2", "sandbox_lost, SANDBOX_LOST, 0"];
    expect(ends).toContain(`${outcome}, ${error?.error_type ?? "none"}, ${artifacts.length}`);
  });

  it.each(moments)(
    "gives the tests' output, and their report or none, %i ms after their last line",
    async (delayMs) => {
      const { onEvent, done } = killerAfter(engine, delayMs);
      const request = { project_path, image: testImages.python, test_command: "python3 -m unittest" };
      const response = await glovebox().test(request, { onEvent });
      await done();
      expect(response.output).toContain("OK\n");
      const { verdict, outcome, counted } = response;
      const ends = ["passed, completed, true", "could_not_run, sandbox_lost, false"];
      expect(ends).toContain(`${verdict}, ${outcome}, ${counted}`);
    },
  );
});
