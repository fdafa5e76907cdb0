import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import { beforeAll, describe, expect, it } from "vitest";
import { answer, groupOwner, success, useAgents } from "../helpers/agent-scene.ts";

describe.each(["docker", "podman"] as const)("agents of groups on %s", (engine) => {
  const { run, at, logs } = useAgents({ engine });

  it("work in their group's folder as its owner, answer between the markers, and leave a log", async () => {
    const result = await run(`id -u; pwd; echo made >made; ${success("it is done")}`);
    expect(result).toMatchObject({
      status: "success",
      result: "it is done",
      outcome: "completed",
      exit_code: 0,
      engine,
    });
    expect(result.output).toBe(`${groupOwner.uid}\n/workspace/group\n`);
    expect(readFileSync(at("groups", "family", "made"), "utf8")).toBe("made\n");
    expect(statSync(at("groups", "family", "made"))).toMatchObject(groupOwner);
    expect(result.log).toMatch(/^groups\/family\/logs\/container-[\dTZ-]+\.log$/);
    expect(readFileSync(at(result.log), "utf8")).toContain("it is done");
    expect(statSync(at(result.log))).toMatchObject(groupOwner);
  });

  it("have the mounts of their group and no others", async () => {
    const list =
      "cd /workspace && ls -d * ; ls -A /home/node; cat /workspace/global/shared.md; touch /workspace/global/x 2>&1";
    const result = await run(`${list}; ls /workspace/project /workspace/group/../other; ${success("")}`);
    expect(result.output).toContain("env-dir\nglobal\ngroup\nipc\n.pi\nof all groups\n");
    expect(result.output).toContain("Read-only file system");
    expect(result.stderr).toContain("/workspace/project");
    expect(result.stderr).toContain("/workspace/group/../other");
  });

  it("have the project when they are the main group's", async () => {
    const script = `cat /workspace/project/groups/other/private.md; echo main >/workspace/group/note; ${success("")}`;
    const result = await run(script, { group: "main", main: true });
    expect(result).toMatchObject({ status: "success", output: "of another group\n" });
    expect(readFileSync(at("nano", "note"), "utf8")).toBe("main\n");
  });

  it("that say nothing, or nonsense, are errors that name the log", async () => {
    const silent = await run("echo hello");
    expect(silent).toMatchObject({
      status: "error",
      result: null,
      outcome: "failed",
      error: { error_type: "INTERNAL" },
    });
    expect(silent.error?.message).toContain(silent.log);
    const nonsense = await run(answer("{broken"));
    expect(nonsense.error?.message).toContain(nonsense.log);
    expect(logs().join("")).toContain("{broken");
  });
});

describe("agents of groups on docker with runsc", () => {
  const { run, at } = useAgents({ engine: "docker", runtime: { oci_runtime: "runsc" } });

  it("work in their group's folder as its owner, with gVisor's kernel between", async () => {
    const script = `id -u; cat /proc/version; echo made >made; mkdir .vscode; echo x >.vscode/tasks.json; ${success("done")}`;
    const result = await run(script);
    expect(result).toMatchObject({ status: "success", result: "done", oci_runtime: "runsc" });
    expect(result.output).toMatch(new RegExp(`^${groupOwner.uid}\nLinux version`));
    expect(result.output).not.toContain(os.release());
    expect(statSync(at("groups", "family", "made"))).toMatchObject(groupOwner);
    expect(result.tooling_files).toEqual([{ path: "/workspace/group/.vscode/tasks.json", change: "new" }]);
    const late = await run("trap '' TERM; while true; do sleep 1; done", { timeout_seconds: 3 });
    expect(late).toMatchObject({ outcome: "timed_out" });
  });
});

/** A repository with an editor's folder; both belong to the group. */
function makeTooled(folder: string): void {
  execFileSync("git", ["init", "--quiet", folder]);
  mkdirSync(`${folder}/.vscode`);
  writeFileSync(`${folder}/.vscode/settings.json`, "{}\n");
  if (process.getuid?.() === 0) {
    execFileSync("chown", ["-R", `${groupOwner.uid}:${groupOwner.gid}`, `${folder}/.git`, `${folder}/.vscode`]);
  }
}

describe.each(["docker", "podman"] as const)("agents and what their folders' owner runs, on %s", (engine) => {
  const named = useAgents({ engine });
  const locked = useAgents({ engine }, {}, {}, { tooling_files: "locked" });
  beforeAll(() => {
    for (const { folder } of [named, locked]) makeTooled(folder);
  });
  const change = (end: string): string =>
    [
      "cd /workspace/project; echo '[core]' >>.git/config; echo new >.git/hooks/pre-commit; echo '{ }' >.vscode/settings.json",
      "echo plain >plain; mkdir -p /home/node/.pi/.claude; echo own >/home/node/.pi/.claude/own; echo x >/workspace/group/.envrc",
      end,
    ].join("; ");

  it("are named with their changes, and alerts report them", async () => {
    const result = await named.run(change(success("")), { group: "main", main: true });
    expect(result.tooling_files).toEqual([
      { path: "/workspace/project/.git/config", change: "changed" },
      { path: "/workspace/project/.git/hooks/pre-commit", change: "new" },
      { path: "/workspace/project/.vscode/settings.json", change: "changed" },
      { path: "/workspace/group/.envrc", change: "new" },
    ]);
    expect(result.warnings.join("\n")).toContain("see tooling_files");
    const alert = { kind: "tooling_files", state: "start", container_id: result.sandbox_id, value: 4 };
    expect(result.alerts).toContainEqual(expect.objectContaining(alert));
    const again = await named.run(`echo other >/workspace/project/other; ${success("")}`, {
      group: "main",
      main: true,
    });
    expect(again).toMatchObject({ status: "success", tooling_files: [] });
  });

  it("are named also when they are ended, and cannot change it where the deployment locks it", async () => {
    const late = await named.run("mkdir .vscode; echo x >.vscode/tasks.json; sleep 60", { timeout_seconds: 3 });
    const made = { path: "/workspace/group/.vscode/tasks.json", change: "new" };
    expect(late).toMatchObject({ outcome: "timed_out", tooling_files: [made] });
    const kept = await locked.run(change(success("")), { group: "main", main: true });
    expect(kept.stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect(kept).toMatchObject({
      status: "success",
      tooling_files: [{ path: "/workspace/group/.envrc", change: "new" }],
    });
  });
});
