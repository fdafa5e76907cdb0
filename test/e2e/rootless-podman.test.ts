import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { skipOrFail } from "../helpers/require.ts";
import { runCommand } from "../helpers/run-command.ts";

/** Variables that lead to the rootless service of a user; otherwise the test is a failure or a visible skip. */
function rootlessService(context: TestContext): Readonly<Record<string, string>> {
  const socket = process.env["GLOVEBOX_TEST_ROOTLESS_SOCKET"];
  if (socket === undefined) skipOrFail(context, "rootless", "GLOVEBOX_TEST_ROOTLESS_SOCKET names no socket");
  return { CONTAINER_HOST: `unix://${socket}` };
}

const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
afterAll(() => rmSync(folder, { recursive: true }));

describe("Podman without root, where it ignores limits", () => {
  it("is refused, naming everything that is missing and what to do", async (context) => {
    const environment = rootlessService(context);
    const result = await runCommand(["run", "--engine", "podman", "-c", "print(1)"], { environment });
    expect(result).toMatchObject({ exitCode: 125, stdout: "" });
    expect(result.stderr).toContain(
      "UNSUPPORTED: Engine podman cannot enforce a memory limit, a CPU limit and a process limit here.",
    );
    expect(result.stderr).toMatch(/Without root Podman ignores limits .*systemd.*Or choose an engine that can/s);
  });

  it("is refused for agents too, before anything of their group is mounted", async (context) => {
    const environment = { ...rootlessService(context), XDG_STATE_HOME: folder };
    mkdirSync(path.join(folder, "groups", "family"), { recursive: true });
    const command = ["agent", "run", "--engine", "podman", "--group", "family", "Say hello"];
    const result = await runCommand(command, { environment, cwd: folder });
    expect(result).toMatchObject({ exitCode: 125, stdout: "" });
    expect(result.stderr).toContain("UNSUPPORTED: Engine podman cannot enforce a memory limit");
    expect(readdirSync(path.join(folder, "groups", "family"))).toEqual([]);
  });

  it("is reported by doctor as no engine for runs", async (context) => {
    const environment = rootlessService(context);
    const { stdout } = await runCommand(["doctor", "--json"], { environment });
    const { engines } = JSON.parse(stdout) as { engines: readonly { name: string }[] };
    expect(engines.find(({ name }) => name === "podman")).toMatchObject({
      available: true,
      usable: false,
      capabilities: { memory_limit: "no", cpu_limit: "no", pids_limit: "no" },
      findings: expect.arrayContaining([
        expect.objectContaining({ severity: "warning", fix: expect.stringMatching(/^Without root/) }),
      ]),
    });
  });
});
