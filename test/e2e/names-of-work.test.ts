import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { success, useAgents } from "../helpers/agent-scene.ts";
import { useEnvironments } from "../helpers/environment-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import type { Glovebox, SandboxRow } from "../helpers/wire-glovebox.ts";

/** A name that no other test has. */
const newName = (what: string): string => `${what}-${randomUUID().slice(0, 8)}`;

const rowsNamed = async (glovebox: Glovebox, engine: string, name: string): Promise<readonly SandboxRow[]> =>
  (await glovebox.sandboxes({ engine })).filter((row) => row.name === name);

/** The same, as soon as there is one: what its owner knows of a new sandbox is written down a moment later. */
async function firstNamed(glovebox: Glovebox, engine: string, name: string): Promise<readonly SandboxRow[]> {
  await until(async () => (await rowsNamed(glovebox, engine, name)).length > 0);
  return rowsNamed(glovebox, engine, name);
}

/** A shell line that ends once somebody else has made a file in its sandbox. */
const untilReleased = "while [ ! -e /tmp/go ]; do sleep 0.2; done";

/** The rows of live sandboxes with the name of work that waits to be released, which is then done by that name. */
async function rowsBeforeRelease(glovebox: Glovebox, engine: string, name: string): Promise<readonly SandboxRow[]> {
  const rows = await firstNamed(glovebox, engine, name);
  const released = await glovebox.live.exec({ sandbox_id: name, command: ["touch", "/tmp/go"] });
  expect(released).toMatchObject({ exit_code: 0 });
  return rows;
}

describe.each(["docker", "podman"] as const)("a name on %s", (engine) => {
  const environments = useEnvironments(engine);
  const agents = useAgents({ engine });

  it("finds an environment", async () => {
    const name = newName("env");
    await using environment = await environments.open({ name });
    const glovebox = environments.glovebox();
    expect(await firstNamed(glovebox, engine, name)).toMatchObject([{ kind: "environment", engine, running: true }]);
    const command = ["echo", "here"];
    expect(await glovebox.live.exec({ sandbox_id: name, command })).toMatchObject({ stdout: "here\n" });
    expect(await glovebox.environments.runCommand({ env_id: name, command })).toMatchObject({ stdout_tail: "here\n" });
    const { environments: listed } = await glovebox.environments.list();
    expect(listed.find(({ env_id: id }) => id === environment.id)).toMatchObject({ name });
    expect(await glovebox.removeSandboxes({ ids: [name] })).toEqual([environment.sandbox_id]);
    expect(await rowsNamed(glovebox, engine, name)).toEqual([]);
  });

  it("is that of an agent's run", async () => {
    const name = newName("agent");
    const glovebox = agents.glovebox();
    const running = agents.run(`${untilReleased}; ${success("done")}`, { name });
    expect(await rowsBeforeRelease(glovebox, engine, name)).toMatchObject([{ kind: "agent", engine }]);
    expect(await running).toMatchObject({ status: "success", result: "done" });
    expect(await rowsNamed(glovebox, engine, name)).toEqual([]);
  });
});

describe.each(["docker", "local"] as const)("a name of work on a project on %s", (engine) => {
  let folder = "";
  const glovebox = useGlovebox(engine, {
    settings: { images: sessionImages, project_roots: [realpathSync(os.tmpdir())] },
  });
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    writeFileSync(path.join(folder, "a.test.mjs"), 'import test from "node:test"; test("adds", () => {});\n');
    writeFileSync(path.join(folder, "index.html"), "<h1>hello</h1>\n");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is that of a test run", async () => {
    const name = newName("tests");
    const command = `${untilReleased}; node --test`;
    const running = glovebox().test({ project_path: folder, test_command: command, setup_command: "", name });
    expect(await rowsBeforeRelease(glovebox(), engine, name)).toMatchObject([{ kind: "test", work: command, engine }]);
    expect(await running).toMatchObject({ verdict: "passed" });
    expect(await rowsNamed(glovebox(), engine, name)).toEqual([]);
  });

  it("finds a preview, and is in its answers and its use of the machine", async () => {
    const name = newName("page");
    const command = "python3 -m http.server 8000";
    const request = { project_path: folder, command, port: 8000, setup_command: "", name };
    const { container_id: id, ...started } = await glovebox().previews.start(request);
    expect(started).toMatchObject({ status: "running", name });
    expect(await firstNamed(glovebox(), engine, name)).toMatchObject([
      { sandbox_id: id, kind: "preview", work: command, engine },
    ]);
    expect(await glovebox().previews.status({ id: name })).toMatchObject({ container_id: id, name });
    expect(await glovebox().stats({ id: name })).toMatchObject({ sandboxes: [{ container_id: id, name }] });
    await glovebox().previews.stop({ id: name });
    expect(await rowsNamed(glovebox(), engine, name)).toEqual([]);
  });
});
