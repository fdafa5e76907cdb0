import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Alert } from "../helpers/wire-glovebox.ts";
import { runCommandContract } from "../../src/operations/environments-contract.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

/** The owner of the project: not root. */
const owner = 4242;

describe.each(["docker", "podman"] as const)("files that tools of a project's owner run, on %s", (engine) => {
  const alerts: Alert[] = [];
  let project: string;
  const glovebox = useGlovebox(engine, {
    settings: { images: testImages, project_roots: [tmpdir()] },
    onAlert: (alert) => alerts.push(alert),
  });
  beforeEach(() => {
    project = mkdtempSync(path.join(tmpdir(), "glovebox-project-"));
    execFileSync("git", ["init", "--quiet", project]);
    mkdirSync(path.join(project, ".vscode"));
    writeFileSync(path.join(project, ".vscode/settings.json"), "{}");
    execFileSync("chown", ["-R", `${owner}:${owner}`, project]);
    alerts.length = 0;
  });
  afterEach(() => rmSync(project, { recursive: true, force: true }));

  async function open(request: { readonly tooling_files?: "named" | "locked"; readonly read_only?: boolean } = {}) {
    const { environments, processes } = glovebox();
    const made = await environments.create({ image: testImages.python, project_root: project, ...request });
    const { env_id: id } = made;
    return {
      ...made,
      id,
      environments,
      processes,
      sh: (script: string, timeout = 30) =>
        environments.runCommand({ env_id: id, command: ["sh", "-c", script], timeout_seconds: timeout }),
      [Symbol.asyncDispose]: async () => {
        await environments.destroy({ env_id: id }).catch(() => undefined);
      },
    };
  }

  it("are named by the command that changed them, in both halves of the answer, and as an alert", async () => {
    await using env = await open();
    const plain = await env.sh("mkdir -p src && echo '{}' >package.json && echo x >src/main.ts");
    expect(plain).toMatchObject({ exit_code: 0, tooling_files: [], warnings: [] });
    expect(alerts).toEqual([]);
    const result = await env.sh(
      "printf '[core]\\n\\tfsmonitor = ./x\\n' >>.git/config; echo x >.vscode/tasks.json; exit 3",
    );
    const tooling = [
      { path: ".git/config", change: "changed" },
      { path: ".vscode/tasks.json", change: "new" },
    ];
    expect(result).toMatchObject({ outcome: "failed", exit_code: 3, tooling_files: tooling });
    expect(result.warnings).toEqual([expect.stringContaining("look at them before such a tool is used")]);
    expect(runCommandContract.tool?.text(result)).toContain(
      "tooling file changed: .git/config\ntooling file new: .vscode/tasks.json",
    );
    expect(alerts).toEqual([
      expect.objectContaining({
        kind: "tooling_files",
        state: "start",
        container_id: env.sandbox_id,
        value: 2,
        message: expect.stringContaining(".git/config (changed), .vscode/tasks.json (new)"),
      }),
    ]);
    expect((await env.sh("true")).tooling_files).toEqual([]);
    // What the owner writes while nothing runs counts as the owner's.
    writeFileSync(path.join(project, ".envrc"), "x");
    expect((await env.sh("true")).tooling_files).toEqual([]);
    await env.environments.destroy({ env_id: env.id });
    expect(alerts.at(-1)).toMatchObject({ kind: "tooling_files", state: "end", value: 2 });
  });

  it("are named at a timeout, including what a command leaves behind", async () => {
    await using env = await open();
    const late = await env.sh("echo x >.git/hooks/pre-commit; sleep 60", 1);
    expect(late).toMatchObject({
      outcome: "timed_out",
      tooling_files: [{ path: ".git/hooks/pre-commit", change: "new" }],
    });
    const left = await env.sh("setsid sh -c 'sleep 2; echo x >.envrc' >/dev/null 2>&1 &");
    expect(left.exit_code).toBe(0);
    await until(() => existsSync(path.join(project, ".envrc")));
    expect((await env.sh("true")).tooling_files).toEqual([{ path: ".envrc", change: "new" }]);
  });

  it("are named by a background process while it runs and when it has ended, its environment with it", async () => {
    await using env = await open();
    const script = "echo x >.envrc; read line; echo x >.npmrc; read line";
    const started = await env.processes.start({ env_id: env.id, command: ["sh", "-c", script] });
    const row = async () => (await env.processes.list({ env_id: env.id })).processes[0];
    await expect
      .poll(row, { timeout: 20_000 })
      .toMatchObject({ state: "running", tooling_files: [{ path: ".envrc", change: "new" }] });
    await env.processes.writeStdin({ env_id: env.id, process_id: started.process_id, text: "\n" });
    await until(() => Promise.resolve(existsSync(path.join(project, ".npmrc"))));
    // What a command leaves behind writes after the last answer, and what no index lists is found.
    const late = "sleep 1; mkdir -p sub/.git; echo x >sub/.git/config; echo x >.exrc";
    await env.sh(`setsid sh -c '${late}' >/dev/null 2>&1 &`);
    await until(() => existsSync(path.join(project, ".exrc")));
    const gone = await env.environments.destroy({ env_id: env.id });
    const named = gone.tooling_files.map(({ path: name, change }) => `${change} ${name}`);
    expect(named).toEqual(expect.arrayContaining(["new .exrc", "new sub/.git/config"]));
    expect(gone.warnings).toEqual([expect.stringContaining("look at them before such a tool is used")]);
    const messages = alerts.map(({ state, message }) => `${state} ${message}`);
    expect(messages).toEqual([
      expect.stringMatching(/^start .*\.envrc/),
      expect.stringMatching(/^start .*\.exrc.*\.npmrc.*sub\/\.git\/config/),
      expect.stringMatching(/^end 4 changes/),
    ]);
  });

  it("hold nothing up, whatever a program does to them, and name nothing outside", async () => {
    await using env = await open();
    const hostile = `
import os, fcntl, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
os.remove(".git/config"); os.mkfifo(".git/config")
os.remove(".git/HEAD"); os.symlink("/etc", ".claude"); os.symlink("/", ".git/modules")
os.rename(".vscode", "v"); os.symlink("..", ".vscode")
os.mkdir(".cursor")
for n in range(20000): open(f".cursor/{n}", "w").close()
d = ".idea"
for n in range(300):
    os.mkdir(d); os.chdir(d); d = "d"
`;
    writeFileSync(path.join(project, "hostile.py"), hostile);
    chownSync(path.join(project, "hostile.py"), owner, owner);
    const result = await env.sh("python3 hostile.py", 60);
    expect(result).toMatchObject({ exit_code: 0 });
    const named = result.tooling_files.map(({ path: name, change }) => `${change} ${name}`);
    expect(named).toEqual(expect.arrayContaining(["new .claude", "changed .git/config", "new .git/modules"]));
    expect(named).toContain("changed .cursor");
    const startedMs = performance.now();
    const again = await env.sh("true");
    expect(again).toMatchObject({ exit_code: 0, tooling_files: [] });
    expect(again.warnings.join("\n")).toMatch(/Not all files.*proves nothing.*What to do/);
    expect(performance.now() - startedMs).toBeLessThan(8_000);
    const names = readdirSync(project);
    expect(names).toContain(".cursor");
  });

  it("cannot be changed where they are locked, which the answer explains, and nothing is left in the host's folder", async () => {
    mkdirSync(path.join(project, ".claude"));
    writeFileSync(path.join(project, ".npmrc"), "");
    symlinkSync("/etc", path.join(project, ".idea"));
    mkdirSync(path.join(project, "lib/sub/.git"), { recursive: true });
    writeFileSync(path.join(project, "lib/sub/.git/config"), "");
    execFileSync("chown", ["-hR", `${owner}:${owner}`, project]);
    const tree = (): string => execFileSync("find", [project, "-printf", "%P %y %m %U %s\n"], { encoding: "utf8" });
    const before = tree();
    await using env = await open({ tooling_files: "locked" });
    expect(env.tooling_files).toBe("locked");
    for (const script of [
      "mv .git x",
      "echo x >>.git/config",
      "echo x >c && mv c .git/config",
      "echo x >.git/hooks/pre-commit",
      "rm .git/config",
      "mv .git/hooks h",
      "echo x >.vscode/tasks.json",
      "mv .vscode v",
      "echo x >.npmrc",
      "rm -rf .claude",
      "mv lib x",
      "mv lib/sub x",
      "mv lib/sub/.git x",
      'python3 -c \'import os; os.rename("lib/sub", "lib/x")\'',
      "echo x >lib/sub/.git/config",
    ]) {
      const result = await env.sh(`${script}; code=$?; rm -rf c h v x; exit $code`);
      expect(result, script).toMatchObject({ outcome: "failed", tooling_files: [] });
      expect(result.warnings, script).toEqual([expect.stringContaining("tooling_files is locked here")]);
    }
    const work = "cd lib/sub && echo x >a && mv a b && mkdir d && mv b ../c && rm ../c && rmdir d";
    expect(await env.sh(`echo x >.git/index && mkdir src && rm .git/index && rmdir src && ${work}`)).toMatchObject({
      outcome: "completed",
      warnings: [],
    });
    // Files that did not exist can be created, and are named.
    expect((await env.sh("echo x >.envrc")).tooling_files).toEqual([{ path: ".envrc", change: "new" }]);
    expect((await env.sh("rm .envrc")).exit_code).toBe(0);
    await env.environments.destroy({ env_id: env.id });
    expect(tree()).toBe(before);
  });

  it("are locked by no mount of what a link leads to", async () => {
    rmSync(path.join(project, ".vscode"), { recursive: true });
    symlinkSync("/etc", path.join(project, ".vscode"));
    rmSync(path.join(project, ".git"), { recursive: true });
    symlinkSync("/root", path.join(project, ".git"));
    await using env = await open({ tooling_files: "locked" });
    const shown = await env.sh("cat /proc/self/mountinfo");
    expect(shown.stdout_tail).not.toContain("/workdir/");
    expect(shown.stdout_tail).toContain(" /workdir ");
  });
});
