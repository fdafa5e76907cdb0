import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { groupOwner, success, useAgents } from "../helpers/agent-scene.ts";
import type { RunAgentResponse } from "../../src/operations/agent-contract.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-agent-folder-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A project with a git repository, of an ordinary user where the tests are root. */
function project(name: string): string {
  const folder = path.join(root, name);
  mkdirSync(folder);
  execFileSync("git", ["init", "-q", folder]);
  writeFileSync(path.join(folder, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(path.join(folder, "a.txt"), "one\n");
  if (process.getuid?.() === 0) execFileSync("chown", ["-R", `${groupOwner.uid}:${groupOwner.gid}`, folder]);
  return folder;
}

describe.each(["docker", "podman"] as const)("an agent in a folder, on %s", { timeout: 120_000 }, (engine) => {
  const { image, glovebox } = useAgents({ engine }, {}, {}, { project_roots: [root] });
  const home = mkdtempSync(path.join(root, "home-"));
  const shop = project(`shop-${engine}`);

  const agent = (folder: string, script: string, ...more: readonly string[]): Promise<CommandResult> =>
    runCommand(["agent", "claude", script, "--engine", engine, "--image", image, ...more], {
      cwd: folder,
      environment: { HOME: home, XDG_STATE_HOME: path.join(home, "state") },
    });

  it("is started by its name and what it should do, changes the folder, and remembers what it did", async () => {
    const first = `pwd; echo two > a.txt; echo memory > /home/node/.pi/note; echo x > SOUL.md; ${success("done")}`;
    const done = await agent(shop, first);
    expect(done).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(done.stderr).toMatch(/^\/workspace\/group$/m);
    expect(done.stderr).toMatch(
      /success \(completed\); log: ~\/\.glovebox\/agents\/groups\/shop-[a-z]+-[0-9a-f]{16}\/logs\//,
    );
    expect(readFileSync(path.join(shop, "a.txt"), "utf8")).toBe("two\n");
    expect(statSync(path.join(shop, "SOUL.md")).uid).toBe(statSync(shop).uid);
    // What it keeps, and its log, are in the user's home and not in the folder.
    expect(readdirSync(shop).toSorted()).toEqual([".git", "SOUL.md", "a.txt"]);
    expect(existsSync(path.join(home, ".glovebox/agents/data"))).toBe(true);
    expect(statSync(path.join(home, ".glovebox/agents")).mode & 0o077).toBe(0);
    const again = await agent(shop, `cat /home/node/.pi/note; ${success("again")}`);
    expect(again.stderr).toMatch(/^memory$/m);
    const other = project(`other-${engine}`);
    const elsewhere = await agent(root, `ls /home/node/.pi; ls; ${success("elsewhere")}`, "--project", other);
    expect(elsewhere).toMatchObject({ exitCode: 0, stdout: "elsewhere\n" });
    expect(elsewhere.stderr).not.toMatch(/^note$/m);
    const wrong = await runCommand(["agent", "clod", "hello"], { environment: { HOME: home } });
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("AGENT: expected one of pi, claude,") });
  });

  it("cannot change what its owner's tools run, and says what it added", async () => {
    const script = [
      "echo evil >> .git/hooks/pre-commit && echo changed",
      "mv .git/hooks .git/other && echo moved",
      "rm -rf .git && echo removed",
      "mkdir -p .vscode; echo '{}' > .vscode/tasks.json",
      success("tried"),
    ].join("\n");
    const { stdout } = await agent(shop, script, "--json");
    const result = JSON.parse(stdout) as RunAgentResponse;
    expect(result).toMatchObject({ status: "success", result: "tried" });
    expect(result.output).not.toMatch(/changed|moved|removed/);
    expect(readFileSync(path.join(shop, ".git/hooks/pre-commit"), "utf8")).toBe("#!/bin/sh\n");
    expect(result.tooling_files).toContainEqual(
      expect.objectContaining({ path: expect.stringContaining(".vscode"), change: expect.any(String) }),
    );
  });

  it("is refused outside of what may be mounted, and beside a group, by the field", async () => {
    const run = (request: object) => failureOf(glovebox().runAgent({ prompt: "true", ...request }), "INVALID_REQUEST");
    const outside = await agent(shop, "true", "--project", "/etc");
    expect(outside).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--project: ") });
    await run({});
    await run({ project_path: shop, group: "family" });
    await run({ project_path: shop, main: true });
    await run({ project_path: shop, agent: "clod" });
    await run({ group: "family", agent: "pi" });
  });
});
