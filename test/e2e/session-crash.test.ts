import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxRow } from "../../src/index.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

describe.each(engines)("a server with a session on %s", (engine) => {
  useGlovebox(engine);

  it("leaves nothing after kill -9 and a sweep", async () => {
    const stateHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"));
    const environment = { XDG_STATE_HOME: stateHome };
    const listed = async (): Promise<readonly SandboxRow[]> => {
      const { stdout } = await runCommand(["ps", "--json", "--engine", engine], { environment });
      return (JSON.parse(stdout) as { sandboxes: SandboxRow[] }).sandboxes.filter(({ owner }) => owner !== "unknown");
    };
    const server = spawn(process.execPath, [path.join(projectFolder, "test/fixtures/idle-session.ts"), engine], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(server.stdout, "data");
      expect(await listed()).toMatchObject([{ kind: "session", owner: "living" }]);
      server.kill("SIGKILL");
      await once(server, "exit");
      await runCommand(["prune", "--json"], { environment });
      expect(await listed()).toEqual([]);
    } finally {
      server.kill("SIGKILL");
      rmSync(stateHome, { recursive: true });
    }
  });
});
