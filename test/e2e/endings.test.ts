import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { testImages } from "../helpers/test-images.ts";

const program = (file: string): string =>
  readFileSync(path.join(projectFolder, "test/fixtures/programs", file), "utf8");

/** The time limit that ends a program; even on a busy machine its end comes long before the minute that the programs take. */
const timeoutMs = 1_500;
const endedWithinMs = 30_000;

describe.each(engines)("a one-shot program on %s that runs out of time", (engine) => {
  const glovebox = useGlovebox(engine);
  const run = (file: string) =>
    glovebox().execute({ language: "python", code: program(file), timeout_seconds: timeoutMs / 1000 });

  it("is killed when it ignores SIGTERM, not before its 750 ms are over", async () => {
    const response = await run("deaf-for-a-while.py");
    expect(response).toMatchObject({ outcome: "timed_out", stdout: "ready\n" });
    expect(response.duration_ms).toBeLessThan(endedWithinMs);
    expect(response.duration_ms).toBeGreaterThanOrEqual(timeoutMs + 750);
  });

  it("takes with it a child that left its session and ignores SIGTERM", async () => {
    const response = await run("leaves-a-ticking-child.py");
    expect(response.outcome).toBe("timed_out");
    expect(response.duration_ms).toBeLessThan(endedWithinMs);
    const ticks = response.stdout.trimEnd().split("\n");
    // The child reports when it was last alive: that was at the time of the kill, whatever was read afterwards.
    expect(Number(ticks.at(-1)?.replace("tick ", ""))).toBeLessThan(response.duration_ms / 1000 + 1);
    expect(ticks.length).toBeGreaterThan(10);
  });
});

describe.each(["docker", "podman"] as const)("a command of an environment on %s that runs out of time", (engine) => {
  const glovebox = useGlovebox(engine);

  it("is killed when it ignores SIGTERM, with everything it started, and the environment continues", async () => {
    const { environments } = glovebox();
    const { env_id } = await environments.create({ image: testImages.python });
    const run = (code: string, ...parameters: readonly string[]) =>
      environments.runCommand({
        env_id,
        command: ["python3", "-c", code, ...parameters],
        timeout_seconds: timeoutMs / 1000,
      });
    try {
      // What one that ends by itself leaves is its own: no other's end takes it along.
      expect(await run(program("leaves-its-threads.py"), "pass")).toMatchObject({ outcome: "completed" });
      for (const file of ["deaf-for-a-while.py", "leaves-a-ticking-child.py"]) {
        const response = await run(program(file));
        expect(response).toMatchObject({ outcome: "timed_out", restarted: false });
        expect(response.duration_ms, file).toBeLessThan(endedWithinMs);
        expect(response.stdout_tail).not.toContain("late");
      }
      const list =
        "import os\nprint(*[p for p in os.listdir('/proc') if p.isdigit() and os.stat('/proc/' + p).st_uid == os.getuid() and int(p) != os.getpid()])";
      expect(await run(list)).toMatchObject({
        ...{ outcome: "completed", restarted: false },
        stdout_tail: expect.stringMatching(/^\d+\n$/) as unknown,
      });
    } finally {
      await environments.destroy({ env_id });
    }
  });
});
