import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

const mb = 1024 * 1024;
const owner = 4242;

describe.each(["docker", "podman"] as const)("the disk limit of a project on %s", (engine) => {
  let project: string;
  const glovebox = useGlovebox(engine, { settings: { images: testImages, project_roots: [tmpdir()] } });
  beforeEach(() => {
    project = mkdtempSync(path.join(tmpdir(), "glovebox-project-"));
    // A separate file system, since what others write to the same one counts while the project grows.
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", project]);
    // Existing files do not count.
    writeFileSync(path.join(project, "dataset"), Buffer.alloc(150 * mb, 1));
    execFileSync("chown", ["-R", `${owner}:${owner}`, project]);
  });
  afterEach(() => {
    execFileSync("umount", ["-l", project]);
    rmSync(project, { recursive: true, force: true });
  });

  async function open() {
    const { environments } = glovebox();
    const request = { image: testImages.python, project_root: project, limits: { disk_mb: 100, memory_mb: 2048 } };
    const { env_id: id } = await environments.create(request);
    return {
      sh: (script: string) =>
        environments.runCommand({ env_id: id, command: ["sh", "-c", script], timeout_seconds: 60 }),
      [Symbol.asyncDispose]: async () => {
        await environments.destroy({ env_id: id }).catch(() => undefined);
      },
    };
  }

  it("counts what commands write there, and ends the one that passes it", { timeout: 120_000 }, async () => {
    await using env = await open();
    expect(
      await env.sh("head -c 60000000 /dev/urandom >a; truncate -s 5G sparse; cp dataset /dev/null; sleep 2"),
    ).toMatchObject({
      outcome: "completed",
    });
    const result = await env.sh(
      "for n in 1 2 3 4 5 6; do head -c 100000000 /dev/zero >big-$n; sleep 1; done; sleep 40",
    );
    expect(result).toMatchObject({
      outcome: "sandbox_lost",
      error: {
        error_type: "SANDBOX_LOST",
        message: expect.stringMatching(/the project grew by .*more than its limit of 100 MiB/),
        context: { limit_mb: 100, retryable: false },
      },
    });
    expect(result.duration_ms).toBeLessThan(30_000);
    // Cleaning up is possible again.
    expect(await env.sh("rm -f big-* a; sleep 3; ls")).toMatchObject({ outcome: "completed", restarted: true });
  });

  it(
    "counts what a command has left running, and not what the owner writes meanwhile",
    { timeout: 180_000 },
    async () => {
      await using env = await open();
      expect(await env.sh("true")).toMatchObject({ outcome: "completed" });
      writeFileSync(path.join(project, "owners"), Buffer.alloc(200 * mb, 1));
      expect(await env.sh("sleep 3")).toMatchObject({ outcome: "completed", restarted: false });
      const left = await env.sh("setsid sh -c 'sleep 1; head -c 300000000 /dev/zero >big; sleep 60' >/dev/null 2>&1 &");
      expect(left).toMatchObject({ outcome: "completed" });
      const ended = async (): Promise<boolean> => (await env.sh("true")).restarted;
      await expect.poll(ended, { timeout: 90_000, interval: 7_000 }).toBe(true);
    },
  );
});
