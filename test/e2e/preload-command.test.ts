import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

const ownCommand = gloveboxCommand;
/** A place without namespaces: a user namespace that has only root and allows no further ones. */
const nowhere = [
  ...["unshare", "--user", "--map-root-user", "sh", "-c"],
  'for kind in user mnt; do echo 0 >"/proc/sys/user/max_${kind}_namespaces"; done; exec "$@"',
] as const;
/** No container engine answers either. */
const noEngines = { DOCKER_HOST: "unix:///nonexistent/docker.sock", CONTAINER_HOST: "unix:///nonexistent/podman.sock" };
const accepted = { GLOVEBOX_MIN_ISOLATION: "preload" };

function glovebox(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return runCommand(argv, { environment: { ...noEngines, ...environment }, through: nowhere });
}

async function connectNowhere(environment: Readonly<Record<string, string>> = {}): Promise<Client> {
  const [command, ...rest] = nowhere;
  const client = new Client({ name: "test", version: "1" });
  const env = gloveboxEnvironment({ ...noEngines, ...environment });
  const args = [...rest, "sh", ownCommand, "mcp"];
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  return client;
}

describe("where there are no namespaces and no container engine", () => {
  const own = useOwnSandboxes();
  it.each([["local"], ["auto"]])(
    "the command refuses to run on engine %s, and ends with what would seal programs and how to go without",
    async (engine) => {
      const { exitCode, stdout, stderr } = await glovebox(["run", "--engine", engine, "-c", "print(6 * 7)"]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 125, stdout: "" });
      expect(stderr).toMatch(/\n {2}Run: sysctl -w user\.max_user_namespaces[^]*user namespaces are disabled/);
      expect(stderr).toMatch(/--min-isolation preload \(for every run: GLOVEBOX_MIN_ISOLATION=preload\)\n$/);
      expect(stderr).toMatch(engine === "auto" ? /local: .*docker: .*podman: / : /local/);
    },
  );

  it.each([
    ["--min-isolation preload", ["--min-isolation", "preload"], {}],
    ["GLOVEBOX_MIN_ISOLATION", [], accepted],
  ] as const)(
    "it runs programs at isolation preload when %s accepts that, and tells the person once",
    async (_, argv, environment) => {
      const run = ["run", ...argv, "-c", "print(6 * 7)"];
      const { exitCode, stdout, stderr } = await glovebox(run, environment);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "42\n" });
      expect(stderr.match(/isolation preload: the program runs on the host itself/g)).toHaveLength(1);
      expect(stderr).toContain("No container engine answers (docker, podman)");
      expect(stderr).toContain("does not enforce a CPU limit");
      const json = await glovebox([...run, "--json"], environment);
      expect(JSON.parse(json.stdout)).toMatchObject({ isolation: "preload", stdout: "42\n" });
    },
  );

  it.each([
    ["by default", {}],
    ["where level preload is accepted", accepted],
  ])("doctor never calls it ready, %s", async (_, environment) => {
    const { exitCode, stdout } = await glovebox(["doctor"], environment);
    expect(exitCode).toBe(125);
    expect(stdout).toContain("[--] local: ");
    expect(stdout).toContain("Not ready");
    expect(stdout).not.toMatch(/\[ok\]|^Ready/m);
  });

  it("root of a namespace that has no other users runs them at isolation namespaces all the same", async () => {
    const args = ["--user", "--map-root-user", ownCommand, "run", "--engine", "local", "--json", "-c", "print(1)"];
    const { stdout } = await promisify(execFile)("unshare", args, { env: gloveboxEnvironment() });
    expect(JSON.parse(stdout)).toMatchObject({ isolation: "namespaces", stdout: "1\n" });
  });

  it("sessions over stdio work, and the tool and the first answer say at which level", async () => {
    const client = await connectNowhere();
    try {
      const { tools } = await client.listTools();
      const { description } = tools.find(({ name }) => name === "run_code") ?? {};
      expect(description).toContain("isolation preload");
      const first = await client.callTool({ name: "run_code", arguments: { language: "python", code: "print(1)" } });
      expect(first.structuredContent).toMatchObject({ stdout: "1\n", isolation: "preload" });
      expect(JSON.stringify(first.content)).toContain("isolation preload: the program runs on the host itself");
    } finally {
      await client.close();
    }
  });

  it("cp copies folders into a session and out of it, and follows no link that its programs have made", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
    const environment = own.environment();
    const client = await connectNowhere(environment);
    const cp = (...argv: string[]): Promise<CommandResult> => glovebox(["cp", ...argv], environment);
    try {
      const make = "import os\nos.makedirs('made')\nopen('made/file', 'w').write('x')\nprint(os.path.abspath('made'))";
      const made = await client.callTool({ name: "run_code", arguments: { language: "python", code: make } });
      // As a program would do that has bypassed its guard.
      symlinkSync("/etc", `${(made.structuredContent as { stdout: string }).stdout.trim()}/out`);
      const { sandboxes } = JSON.parse((await glovebox(["ps", "--json"], environment)).stdout) as {
        sandboxes: { sandbox_id: string }[];
      };
      const id = sandboxes[0]?.sandbox_id ?? "none";
      expect(await cp(`${id}:/work/made`, folder)).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining('links that lead out of what is copied: "made/out"'),
      });
      expect(readdirSync(path.join(folder, "made"))).toEqual(["file"]);
      expect(await cp(path.join(folder, "made"), `${id}:/work/again`)).toMatchObject({ exitCode: 0 });
      const code = "print(open('again/file').read())";
      const read = await client.callTool({ name: "run_code", arguments: { language: "python", code } });
      expect(read.structuredContent).toMatchObject({ stdout: "x\n", restarted: false });
      const out = await cp(path.join(folder, "made"), `${id}:/work/made/out`);
      expect(out.exitCode).not.toBe(0);
      symlinkSync("/etc", path.join(folder, "made/etc"));
      const refused = await cp(path.join(folder, "made"), `${id}:/work/third`);
      expect(refused.stderr).toContain("POLICY_DENIED");
    } finally {
      await client.close();
      rmSync(folder, { recursive: true });
    }
  });

  it("everything else over stdio is refused there, also at the agent's own word", async () => {
    const client = await connectNowhere();
    try {
      const program = { language: "python", code: "print(1)" };
      const refused = await client.callTool({ name: "execute_code", arguments: program });
      expect(refused.isError).toBe(true);
      expect(JSON.stringify(refused.content)).toMatch(/ENGINE_UNAVAILABLE.*--min-isolation preload/);
      const asked = { ...program, engine: "local", min_isolation: "preload" };
      const denied = await client.callTool({ name: "execute_code", arguments: asked });
      expect(JSON.stringify(denied.content)).toContain("POLICY_DENIED");
    } finally {
      await client.close();
    }
  });

  it("a deployment that names a level gets no weaker one for its sessions either", async () => {
    const client = await connectNowhere({ GLOVEBOX_MIN_ISOLATION: "namespaces" });
    try {
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "run_code")?.description).not.toContain("preload");
      const refused = await client.callTool({ name: "run_code", arguments: { language: "python", code: "1" } });
      expect(JSON.stringify(refused.content)).toMatch(/UNSUPPORTED.*is required/);
    } finally {
      await client.close();
    }
  });

  it("sessions have files that last, and work on after a time limit", async () => {
    const client = await connectNowhere();
    try {
      const run = async (request: Readonly<Record<string, unknown>>): Promise<unknown> => {
        const { structuredContent } = await client.callTool({ name: "run_code", arguments: request });
        return structuredContent;
      };
      const python = { language: "python", timeout_seconds: 2 };
      const made = { ...python, code: "open('kept.txt', 'w').write('here')" };
      expect(await run(made)).toMatchObject({ outcome: "completed", isolation: "preload" });
      expect(await run({ ...python, code: "while True: pass" })).toMatchObject({ outcome: "timed_out" });
      const shown = { code: "import fs from 'node:fs'; console.log(fs.readFileSync('kept.txt', 'utf8') as string)" };
      expect(await run(shown)).toMatchObject({ stdout: "here\n", restarted: false });
      const listed = await client.callTool({ name: "list_files", arguments: {} });
      expect(JSON.stringify(listed.content)).toContain("kept.txt");
      expect(listed.isError).not.toBe(true);
    } finally {
      await client.close();
    }
  });
});
