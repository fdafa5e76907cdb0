import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { isRequired } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";

/** A project with a test suite in which one test fails. */
const suite = `import unittest

class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(1 + 1, 2)

    def test_wrong(self):
        open("report.txt", "w").write("seen\\n")
        self.assertEqual(1 + 1, 3)
`;

interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

describe.each(["docker", "podman"] as const)("environments over MCP on %s", (engine) => {
  let folder = "";
  let stateHome = "";
  let client: Client;
  const call = async (name: string, given: object): Promise<Answer> =>
    (await client.callTool({ name, arguments: given as Record<string, unknown> })) as Answer;

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    // Not in the project: no sandbox may see it.
    stateHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"));
    writeFileSync(path.join(folder, "test_sums.py"), suite);
  });
  afterAll(() => {
    for (const made of [folder, stateHome]) rmSync(made, { recursive: true });
  });
  beforeEach(async (context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
    client = new Client({ name: "test", version: "1" });
    const transport = new StdioClientTransport({
      command: gloveboxCommand,
      args: ["mcp", "--engine", engine, "--tools", "project,process"],
      cwd: folder,
      env: { ...(process.env as Record<string, string>), XDG_STATE_HOME: stateHome },
      stderr: "inherit",
    });
    await client.connect(transport);
  });
  afterEach(() => client.close());

  it("runs a project's test suite, and the project has what it wrote", async () => {
    const made = await call("create_environment", { project_root: ".", env_id: "suite", image: testImages.python });
    expect(made).toMatchObject({ structuredContent: { env_id: "suite", mount_path: "/workdir" } });
    const ran = await call("run_command", {
      env_id: "suite",
      command: ["python3", "-m", "unittest"],
      env: { PYTHONDONTWRITEBYTECODE: "1" },
    });
    expect(ran.structuredContent).toMatchObject({ outcome: "failed", exit_code: 1 });
    expect(ran.structuredContent?.["stderr_tail"]).toContain("FAIL: test_wrong");
    expect(readFileSync(path.join(folder, "report.txt"), "utf8")).toBe("seen\n");

    const place = { env_id: "suite", path: "sub/notes.txt" };
    expect(await call("write_file", { ...place, content: "☃" })).toMatchObject({
      content: [{ type: "text", text: "Wrote 3 bytes to sub/notes.txt." }],
      structuredContent: { env_id: "suite", size_bytes: 3 },
    });
    expect(readFileSync(path.join(folder, "sub/notes.txt"), "utf8")).toBe("☃");
    expect(await call("read_file", place)).toMatchObject({ structuredContent: { env_id: "suite", content: "☃" } });
    expect(await call("list_files", { env_id: "suite", path: "sub" })).toMatchObject({
      structuredContent: { files: [{ path: "notes.txt", type: "file", size_bytes: 3 }] },
    });
    const edit = { ...place, old_text: "☃", new_text: "snow\nman" };
    expect(await call("edit_file", edit)).toMatchObject({
      content: [{ type: "text", text: "Replaced one place in sub/notes.txt." }],
      structuredContent: { env_id: "suite", replacements: 1, size_bytes: 8 },
    });
    expect(readFileSync(path.join(folder, "sub/notes.txt"), "utf8")).toBe("snow\nman");
    expect(await call("edit_file", { ...edit, old_text: "snow\n man" })).toMatchObject({
      isError: true,
      structuredContent: { error: { error_type: "INVALID_REQUEST", context: { line: 1, nearest: "snow\nman" } } },
    });
    for (const [more, type] of [
      [{ session_id: "ses-1" }, "INVALID_REQUEST"],
      [{ env_id: null }, "NOT_FOUND"],
      [{ env_id: "other" }, "NOT_FOUND"],
      [{ env_id: undefined }, "NOT_FOUND"],
    ] as const) {
      const refused = await call("read_file", { ...place, ...more });
      expect(refused).toMatchObject({ isError: true, structuredContent: { error: { error_type: type } } });
    }

    const unknown = await call("run_command", { env_id: "other", command: ["true"] });
    expect(unknown).toMatchObject({
      isError: true,
      structuredContent: { error: { error_type: "NOT_FOUND", context: { env_ids: ["suite"] } } },
    });
    expect(await call("list_environments", {})).toMatchObject({
      structuredContent: { environments: [{ env_id: "suite", mount_path: "/workdir", engine }] },
    });
    expect(await call("destroy_environment", { env_id: "suite" })).toMatchObject({
      structuredContent: { env_id: "suite", destroyed: true },
    });
  });

  it("leaves nothing when the client goes away while commands run", async () => {
    const made = await call("create_environment", { image: testImages.python });
    const { env_id: id, container_id: container } = made.structuredContent as Readonly<Record<string, string>>;
    await call("start_process", { env_id: id, command: ["sleep", "1000"] });
    const running = call("run_command", { env_id: id, command: ["sleep", "1000"] }).catch(() => undefined);
    await expect
      .poll(async () => (await call("list_environments", {})).structuredContent)
      .toMatchObject({ environments: [{ running_commands: 1, running_processes: 1 }] });
    await client.close();
    await running;
    await expect
      .poll(() => execFileSync(engine, ["ps", "-aq", "--no-trunc"]).toString(), { timeout: 15_000 })
      .not.toContain(container);
  });
});
