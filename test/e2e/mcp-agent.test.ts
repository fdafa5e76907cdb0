import type { CallToolResult } from "@modelcontextprotocol/client";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectMcp, revisions, type McpConnection } from "../helpers/mcp-client.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { removeContainer } from "../helpers/remove-container.ts";
import { isRequired } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { rareTagOnPodman } from "../lanes/lanes.ts";

const modes = [
  { name: "docker", needs: "docker", variables: { EXECUTION_MODE: "container", CONTAINER_RUNTIME: "docker" } },
  { name: "podman", needs: "podman", variables: { EXECUTION_MODE: "container", CONTAINER_RUNTIME: "podman" } },
  { name: "preload", needs: "local", variables: { EXECUTION_MODE: "preload" } },
] as const;
const cases = modes.flatMap((mode) => revisions.map((revision) => ({ ...mode, ...revision })));

/** Imports two packages from the public registry, one of which has its own types. */
const importing = `
import isNumber from "is-number";
import ms from "ms";
const hour: number = ms("1h");
console.log(isNumber(hour), hour);
`;

type Answer = Readonly<Record<string, unknown>>;

const fieldsOf = ({ structuredContent }: CallToolResult): Answer => structuredContent as Answer;

describe.each(cases)(
  "a whole agent's session in mode $name, revision $revision",
  ({ name, needs, variables, mode, revision }) => {
    const lane = revision === revisions[0].revision ? rareTagOnPodman(needs) : {};
    let folder = "";
    let agent: McpConnection;
    beforeEach(async (context) => {
      if (!isRequired(needs)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${needs}`);
      folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
      agent = await connectMcp({ mode }, ["--answer-within", "50s"], {
        ...variables,
        GLOVEBOX_IMAGE_SESSION: sessionImages.session,
        GLOVEBOX_PACKAGES_DIR: path.join(folder, "packages"),
        GLOVEBOX_PROJECT_ROOTS: path.join(folder, "project"),
        XDG_STATE_HOME: path.join(folder, "state"),
      });
    });
    afterEach(async () => {
      await agent.client.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const run = async (request: Record<string, unknown>): Promise<Answer> =>
      fieldsOf(await agent.call("run_code", request));

    it("installs what is imported, keeps files, and works on after every kind of end", lane, async () => {
      const first = await run({ code: importing });
      expect(first).toMatchObject({ outcome: "completed", stdout: "true 3600000\n" });
      expect(first["packages_installed"]).toEqual([
        expect.stringMatching(/^is-number@\d/),
        expect.stringMatching(/^ms@\d/),
      ]);
      const installed = readdirSync(path.join(folder, "packages"), { recursive: true }).length;
      const second = await run({ code: importing });
      expect(second).toMatchObject({ outcome: "completed", stdout: "true 3600000\n", session_id: first["session_id"] });
      expect(second["packages_installed"]).toEqual(first["packages_installed"]);
      expect(readdirSync(path.join(folder, "packages"), { recursive: true })).toHaveLength(installed);

      expect(await agent.call("write_file", { path: "in.txt", content: "written by a tool" })).not.toHaveProperty(
        "isError",
        true,
      );
      const reading =
        "const fs = require('fs'); fs.writeFileSync('out.txt', fs.readFileSync('in.txt', 'utf8') + ', read');";
      expect(await run({ language: "javascript", code: reading })).toMatchObject({ outcome: "completed" });
      expect((await agent.call("read_file", { path: "out.txt" })).structuredContent).toMatchObject({
        content: "written by a tool, read",
      });

      expect(await run({ language: "python", code: "while True: pass", timeout_seconds: 1 })).toMatchObject({
        outcome: "timed_out",
      });
      expect(await run({ language: "python", code: "print(open('out.txt').read())" })).toMatchObject({
        outcome: "completed",
        stdout: "written by a tool, read\n",
        restarted: false,
      });

      const seconds = uniqueSeconds();
      const giveUp = new AbortController();
      const sleeping = agent.call(
        "run_code",
        {
          language: "python",
          code: `import subprocess; subprocess.run(['sleep', '${seconds}'])`,
          timeout_seconds: 300,
        },
        { signal: giveUp.signal },
      );
      await expect.poll(() => sleepersFor(seconds).length, { timeout: 30_000 }).toBeGreaterThan(0);
      giveUp.abort();
      await expect(sleeping).rejects.toBeDefined();
      await expect.poll(() => sleepersFor(seconds), { timeout: 30_000 }).toEqual([]);
      expect(await run({ language: "python", code: "print(6 * 7)" })).toMatchObject({ stdout: "42\n" });
    });

    it.runIf(needs !== "local")("replaces a container that was killed from outside, and says so", lane, async () => {
      const { sandbox_id: id } = await run({ language: "python", code: "print(1)" });
      const list = execFileSync(name, ["ps", "-q", "--filter", `label=glovebox.sandbox=${String(id)}`], {
        encoding: "utf8",
      });
      removeContainer(name, list.trim());
      expect(await run({ language: "python", code: "print(2)" })).toMatchObject({
        outcome: "completed",
        stdout: "2\n",
        restarted: true,
      });
    });

    it.runIf(needs !== "local")("runs a project's test suite in an environment", lane, async () => {
      execFileSync("mkdir", ["-m", "777", path.join(folder, "project")]);
      writeFileSync(
        path.join(folder, "project/test_sum.py"),
        "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 2)\n",
      );
      const made = await agent.call("create_environment", {
        project_root: path.join(folder, "project"),
        image: sessionImages.python,
      });
      expect(made.structuredContent).toMatchObject({ mount_path: "/workdir", engine: name });
      const ran = await agent.call("run_command", {
        env_id: fieldsOf(made)["env_id"],
        command: ["python3", "-m", "unittest"],
      });
      expect(fieldsOf(ran)).toMatchObject({ exit_code: 0, outcome: "completed" });
      expect(fieldsOf(ran)["stderr_tail"]).toContain("Ran 1 test");
    });
  },
);
