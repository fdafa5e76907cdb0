import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
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
