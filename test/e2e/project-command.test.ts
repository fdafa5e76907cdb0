import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { runCommand, type CommandOptions, type CommandResult } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

const sandboxes = useOwnSandboxes();
const npmFault = npmRegistryFault();

/** The owner of the project: not root, which may run these tests. */
const owner = process.getuid?.() === 0 ? 1000 : (process.getuid?.() ?? 0);
let folder: string;
let project: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-project-command-")));
  chmodSync(folder, 0o755);
  project = path.join(folder, "project");
  mkdirSync(project);
  chownSync(project, owner, owner);
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): void {
  writeFileSync(path.join(project, name), text);
  chownSync(path.join(project, name), owner, owner);
}

const run = (argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> =>
  runCommand(["run", ...argv], { cwd: folder, ...options, environment: sandboxes.environment() });

describe.each(["docker", "podman"] as const)("glovebox run --project on %s", (engine) => {
  useGlovebox(engine);

  it("runs the command in the project itself, with its input, as the owner, and ends with its exit code", async () => {
    write(
      "work.js",
      `const { mkdirSync, writeFileSync } = require("node:fs");
       console.log(process.cwd(), process.getuid());
       mkdirSync(".vscode");
       writeFileSync(".vscode/tasks.json", "{}");
       process.stdin.on("data", (bytes) => writeFileSync("made.txt", bytes));
       process.stdin.on("end", () => { console.error("last"); process.exit(7); });`,
    );
    const result = await run(["--engine", engine, "--project", "project", "--", "node", "work.js", "a b"], {
      stdin: "given\n",
    });
    expect(result).toMatchObject({ exitCode: 7, stdout: `/work/project ${owner}\n` });
    expect(result.stderr).toMatch(/^last$/m);
    expect(result.stderr).toContain("glovebox: new: .vscode");
    const made = path.join(project, "made.txt");
    expect([readFileSync(made, "utf8"), statSync(made).uid]).toEqual(["given\n", owner]);
    expect(await sandboxes.on(engine)).toEqual([]);
  });
});

describe("glovebox run --project", () => {
  useGlovebox("docker");

  it("installs by the lockfile once, and takes packages beside that", { timeout: 240_000 }, async (context) => {
    if (npmFault !== null) context.skip(npmFault);
    write("package.json", JSON.stringify({ name: "x", version: "1.0.0", dependencies: { "is-number": "7.0.0" } }));
    const integrity = "sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==";
    const packages = {
      "": { name: "x", version: "1.0.0", dependencies: { "is-number": "7.0.0" } },
      "node_modules/is-number": { version: "7.0.0", integrity },
    };
    write(
      "package-lock.json",
      JSON.stringify({ name: "x", version: "1.0.0", lockfileVersion: 3, requires: true, packages }),
    );
    const asked = ["--engine", "docker", "--project", "project", "--json"];
    const print = 'console.log(require("is-number")(5), require("is-odd")(5))';
    const first = await run([...asked, "--packages", "is-odd@3.0.1", "--", "node", "-e", print]);
    expect(JSON.parse(first.stdout)).toMatchObject({
      outcome: "completed",
      stdout: "true true\n",
      setup_command: expect.stringContaining("npm ci") as string,
      packages_installed: ["is-odd@3.0.1"],
    });
    expect(statSync(path.join(project, "node_modules", "is-number")).uid).toBe(owner);
    const second = await run([...asked, "--", "node -p 'require(\"is-number\")(5)'"]);
    const answer = JSON.parse(second.stdout) as Record<string, unknown>;
    expect(answer).toMatchObject({ stdout: "true\n" });
    expect(answer).not.toHaveProperty("setup_command");
  });

  it("leaves a project alone that is read-only, or not within the gate", async () => {
    const asked = ["--engine", "docker", "--project"];
    const touch = ["--", "touch", "made.txt"];
    const readOnly = await run([...asked, "project", "--read-only", ...touch]);
    expect(readOnly.exitCode).toBe(1);
    expect(readOnly.stderr).toContain("Read-only file system");
    const outside = await run([...asked, folder, ...touch], { cwd: project });
    expect(outside).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outside.stderr).toContain("outside-roots");
    expect(existsSync(path.join(project, "made.txt")) || existsSync(path.join(folder, "made.txt"))).toBe(false);
  });

  it("passes output on as it comes, and leaves nothing at Ctrl-C", async () => {
    const seconds = uniqueSeconds();
    const line = `echo begun; sleep ${seconds} & sleep ${seconds}`;
    const child = spawn(gloveboxCommand, ["run", "--engine", "docker", "--project", ".", "--", line], {
      cwd: project,
      env: gloveboxEnvironment(sandboxes.environment()),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [begun] = (await once(child.stdout, "data")) as [Buffer];
    expect(begun.toString()).toBe("begun\n");
    await until(() => sleepersFor(seconds).length === 2);
    child.kill("SIGINT");
    const [exitCode] = (await once(child, "exit")) as [number | null];
    expect(exitCode).toBe(130);
    await until(() => sleepersFor(seconds).length === 0);
    expect(await sandboxes.on("docker")).toEqual([]);
  });

  it.each([
    [["--project", "."], "COMMAND: expected what runs in the project"],
    [["--project", ".", "--file", "x", "--", "true"], "--file: expected no such option together with --project"],
    [["--setup", "x", "-c", "1"], "--setup: expected --project beside it"],
    [["--engine", "local", "--project", ".", "--", "true"], "`glovebox test`, which works on a copy"],
  ])("refuses %j", async (argv, words) => {
    const { exitCode, stderr } = await run(argv, { cwd: project });
    expect([2, 125]).toContain(exitCode);
    expect(stderr).toContain(words);
  });
});
