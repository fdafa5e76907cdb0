import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { image, owner, useEnvironments } from "../helpers/environment-scene.ts";
import { removeContainer } from "../helpers/remove-container.ts";

describe.each(["docker", "podman"] as const)("environments on %s", (engine) => {
  const { glovebox, at, open } = useEnvironments(engine);

  it("runs commands as the owner of the project, whose files they write", async () => {
    await using env = await open({ project_root: "project", env_id: "mine" });
    expect(env).toMatchObject({ env_id: "mine", mount_path: "/workdir", engine, image, read_only: false });
    const result = await env.sh("id -u; id -g; pwd; echo made >made; mkdir -p sub && echo x >sub/y");
    expect(result).toMatchObject({
      outcome: "completed",
      exit_code: 0,
      stdout_tail: `${owner.uid}\n${owner.gid}\n/workdir\n`,
      timed_out: false,
    });
    for (const made of ["made", "sub", "sub/y"]) expect(statSync(at("project", made))).toMatchObject(owner);
    expect(execFileSync(engine, ["inspect", "--format", "{{.Name}}", env.container_id]).toString()).toContain(
      env.sandbox_id,
    );
  });

  it("sets the variables of both levels, the command's first, and starts in the given folder", async () => {
    await using env = await open({ project_root: "project", environment: { A: "1", B: "1" } });
    const result = await env.sh("echo $A $B $C $NO_COLOR $TERM; pwd", { environment: { B: "2", C: "3" }, cwd: "/tmp" });
    expect(result.stdout_tail).toBe("1 2 3 1 dumb\n/tmp\n");
    const missing = await env.run(["pwd"], { cwd: "no/such" });
    expect(missing).toMatchObject({ outcome: "failed", exit_code: 126 });
    expect(missing.stderr_tail).toContain("/workdir/no/such");
  });

  it("gives a command the same world when a shell has waited to become it, and does without one that was stopped", async () => {
    await using env = await open({ project_root: "project", environment: { A: "one\ntwo " } });
    const program = `import os, sys
print(sorted(os.environ.items()), sys.argv, os.getcwd(), sys.stdin.read())
above = open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1]
print(sorted(os.listdir('/proc/self/fd')), above, os.getpid() == os.getpgid(0), os.getpid() == os.getsid(0))`;
    const asked = { environment: { B: "\\ Ł \t" }, cwd: "/tmp" };
    const say = (more: object = asked): ReturnType<typeof env.run> =>
      env.run(["python3", "-c", program, "", "a  b\n", "Ł\\", "-n"], more);
    const own = await say({ ...asked, environment: { ...asked.environment, OPTIND: "1" } });
    const world = own.stdout_tail.replace("('OPTIND', '1'), ", "");
    expect(world).toContain("('A', 'one\\ntwo '), ('B', '\\\\ Ł \\t'), ");
    // A program is as old as the shell that became it.
    const age = `import os, sys
ticks = int(open('/proc/self/stat').read().rpartition(')')[2].split()[19])
print(float(open('/proc/uptime').read().split()[0]) - ticks / os.sysconf('SC_CLK_TCK'), file=sys.stderr)
${program}`;
    const old = async (): Promise<boolean> => {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const result = await env.run(["python3", "-c", age, "", "a  b\n", "Ł\\", "-n"], asked);
      expect(result).toMatchObject({ outcome: "completed", stdout_tail: world });
      return Number(result.stderr_tail) > 1.5;
    };
    await expect.poll(old, { timeout: 30_000 }).toBe(true);

    const missing = await env.run(["pwd"], { cwd: "no/such" });
    expect(missing).toMatchObject({ outcome: "failed", exit_code: 126 });
    const late = await env.sh("trap '' TERM; sleep 4445 & wait; wait", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", warnings: [] });
    expect(await env.sh("exit 3")).toMatchObject({ outcome: "failed", exit_code: 3, restarted: false });
    for (const signal of ["STOP", "KILL"]) {
      const user = `${owner.uid}:${owner.gid}`;
      const hostile = ["sh", "-c", `sleep 1; kill -${signal} -1`];
      execFileSync(engine, ["exec", "--user", user, env.container_id, ...hostile], { timeout: 30_000 });
      const next = await say();
      expect(next).toMatchObject({ outcome: "completed", restarted: false, warnings: [], stdout_tail: world });
    }
  });

  it("reports a missing program in the shell's words, and gives no input", async () => {
    await using env = await open();
    const missing = await env.run(["no-such-program", "--flag"]);
    expect(missing).toMatchObject({ outcome: "failed", exit_code: 127, stdout_tail: "" });
    expect(missing.stderr_tail).toContain("no-such-program: not found");
    expect(await env.run(["cat"])).toMatchObject({ exit_code: 0, stdout_tail: "" });
  });

  it("keeps the newest output of each stream and counts what it dropped", async () => {
    await using env = await open();
    const result = await env.run([
      "python3",
      "-c",
      "import sys; print('é' * 100_000 + 'end'); print('short', file=sys.stderr)",
    ]);
    expect(Buffer.byteLength(result.stdout_tail)).toBeGreaterThan(65_532);
    expect(result.stdout_tail.endsWith("ééend\n")).toBe(true);
    expect(result.stdout_tail.startsWith("é")).toBe(true);
    expect(result.stdout_dropped_bytes).toBe(200_004 - 65_536);
    expect(result).toMatchObject({ stderr_tail: "short\n", stderr_dropped_bytes: 0 });
  });

  it("runs commands at once, and ends one at its timeout with all it started while another goes on", async () => {
    await using env = await open();
    const other = env.sh("echo begun; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo unharmed");
    const stubborn = "trap '' TERM; echo begun; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & sleep 4444";
    const ended = await env.sh(stubborn, { timeout_seconds: 1 });
    expect(ended).toMatchObject({ outcome: "timed_out", timed_out: true, stdout_tail: "begun\n", warnings: [] });
    expect(ended.error).toMatchObject({ error_type: "TIMEOUT" });
    const left = await env.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 444[4]\\|trap \"\" TER[M]'");
    expect(left.stdout_tail).toBe("0\n");
    await env.sh(": >/tmp/go");
    expect(await other).toMatchObject({ outcome: "completed", stdout_tail: "begun\nunharmed\n", restarted: false });
  });

  it("ends a cancelled command, and no other", async () => {
    await using env = await open();
    const giveUp = new AbortController();
    const running = env.environments.runCommand(
      { env_id: env.id, command: ["sh", "-c", "echo up; sleep 1000"] },
      { signal: giveUp.signal, onEvent: (event) => void (event.type === "output" && giveUp.abort()) },
    );
    expect(await running).toMatchObject({ outcome: "cancelled", stdout_tail: "up\n" });
    expect(await env.run(["true"])).toMatchObject({ outcome: "completed", restarted: false });
  });

  it("distinguishes running out of memory from a crash", async () => {
    await using env = await open({ limits: { memory_mb: 64 } });
    const result = await env.run(["python3", "-c", "x = bytearray(500 * 1024 * 1024)"]);
    expect(result).toMatchObject({ outcome: "oom_killed", error: { error_type: "OOM_KILLED" } });
    expect(await env.sh("kill -9 $$")).toMatchObject({ outcome: "failed", exit_code: 137 });
  });

  it("keeps files between commands, and ends a container that writes more than its limit", async () => {
    await using env = await open({ limits: { disk_mb: 20 } });
    await env.sh("echo kept >/tmp/file");
    expect((await env.sh("cat /tmp/file")).stdout_tail).toBe("kept\n");
    const flood = await env.sh("dd if=/dev/zero of=/tmp/flood bs=1M count=100 2>/dev/null; sleep 100");
    expect(flood).toMatchObject({ outcome: "sandbox_lost", error: { error_type: "SANDBOX_LOST" } });
    expect(flood.error?.message).toContain("20 MiB");
    const after = await env.sh("cat /tmp/file");
    expect(after).toMatchObject({ outcome: "failed", restarted: true });
  });

  it("has a root that cannot be written where that is asked, and a project", async () => {
    writeFileSync(at("project/readable"), "here\n");
    await using env = await open({ project_root: "project", read_only: true, read_only_root: true });
    expect(env.read_only).toBe(true);
    const result = await env.sh("cat readable; echo x >readable; echo x >/tmp/x; echo x >/var/tmp/x; cat /tmp/x");
    expect(result.stdout_tail).toBe("here\nx\n");
    expect(result.stderr_tail).toMatch(/readable: Read-only file system[^]*\/var\/tmp\/x: Read-only file system/);
  });

  it("continues in a new container when its own disappeared, and says so", async () => {
    await using env = await open({ project_root: "project" });
    const started = await glovebox().processes.start({ env_id: env.id, command: ["sleep", "1000"] });
    const up = Promise.withResolvers<void>();
    const lost = env.environments.runCommand(
      { env_id: env.id, command: ["sh", "-c", "echo up; sleep 1000"] },
      { onEvent: () => up.resolve() },
    );
    await up.promise;
    removeContainer(engine, env.container_id);
    expect(await lost).toMatchObject({ outcome: "sandbox_lost", exit_code: null });
    const next = await env.sh("echo again");
    expect(next).toMatchObject({ outcome: "completed", stdout_tail: "again\n", restarted: true });
    expect(next.warnings).toEqual([expect.stringContaining("new container")]);
    expect(await env.sh("true")).toMatchObject({ restarted: false, warnings: [] });
    const { processes } = await glovebox().processes.list({ env_id: env.id });
    expect(processes).toMatchObject([{ process_id: started.process_id, state: "lost", exit_code: null }]);
  });

  it("has background processes that outlive their call and can be read, written to and ended", async () => {
    await using env = await open();
    const { id } = env;
    const { processes } = glovebox();
    const command = ["sh", "-c", 'echo first; while read -r line; do echo "got $line"; done; sleep 5555'];
    const { process_id } = await processes.start({ env_id: id, command });
    const address = { env_id: id, process_id };
    const stdout = async (offset = 0) =>
      (await processes.list({ ...address, stdout_offset: offset })).processes[0]?.stdout;
    await expect.poll(() => stdout()).toMatchObject({ offset: 0, text: "first\n", next_offset: 6 });
    await processes.writeStdin({ ...address, text: "é\n" });
    await expect.poll(() => stdout(6)).toMatchObject({ offset: 6, text: "got é\n", next_offset: 13, is_over: false });
    await processes.writeStdin({ ...address, close: true });
    await expect(processes.writeStdin({ ...address, text: "late" })).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
    });
    // A command's timeout does not affect it.
    expect(await env.sh("sleep 100", { timeout_seconds: 0.5 })).toMatchObject({
      outcome: "timed_out",
      restarted: false,
    });
    expect((await processes.list({ env_id: id })).processes).toMatchObject([{ process_id, state: "running" }]);
    expect(await processes.stop(address)).toMatchObject({ state: "exited", warnings: [] });
    expect((await env.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 555[5]'")).stdout_tail).toBe("0\n");
    expect(await stdout(13)).toMatchObject({ text: "", is_over: true });
  });

  it("refuses what it is not given, by its name", async () => {
    const { environments } = glovebox();
    const refused = async (request: Parameters<typeof open>[0], error: object) =>
      expect(environments.create({ image, ...request })).rejects.toMatchObject(error);
    symlinkSync("/", at("root"));
    writeFileSync(at("file"), "");
    mkdirSync(at(".ssh"));
    const wrong = (field: string, rule?: string) => ({
      errorType: "INVALID_REQUEST",
      context: rule === undefined ? { field } : { field, rule },
    });
    await refused({ project_root: "missing" }, wrong("project_root", "missing"));
    await refused({ project_root: "file" }, wrong("project_root"));
    await refused({ project_root: "" }, wrong("project_root"));
    await refused({ project_root: "/" }, wrong("project_root", "outside-roots"));
    await refused({ project_root: "root" }, wrong("project_root", "outside-roots"));
    await refused({ project_root: ".." }, wrong("project_root", "outside-roots"));
    await refused({ project_root: ".ssh" }, { errorType: "POLICY_DENIED", context: { rule: "blocked-pattern" } });
    for (const env_id of ["a/b", "..", "x".repeat(300), ""]) await refused({ env_id }, wrong("env_id"));
    await refused({ env: { "NOT A NAME": "x" } }, { errorType: "INVALID_REQUEST" });
    await refused({ env: {}, environment: {} }, wrong("env"));
    await refused({ limits: { memory_mb: 1e6 } }, { errorType: "INVALID_REQUEST" });
    await refused({ setup_commands: [[]] }, wrong("setup_commands[0]"));
    await refused({ install_commands: [["true"], [""]] }, wrong("install_commands[1][0]"));
    await refused({ image: "localhost:1/no/such:image" }, { errorType: "IMAGE_UNAVAILABLE" });
    expect((await environments.list()).environments).toEqual([]);
  });

  it("refuses commands that are none, and ids that are not known", async () => {
    await using env = await open({ env_id: "known" });
    const { environments } = env;
    await expect(open({ env_id: "known" })).rejects.toMatchObject({ errorType: "ALREADY_EXISTS" });
    for (const command of [[], [""], ["a\0b"], ["\uD800"]]) {
      await expect(env.run(command)).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    }
    await expect(env.run(["true"], { cwd: "" })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    await expect(env.run(["true"], { timeout_seconds: 1e6 })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    await expect(environments.runCommand({ env_id: "other", command: ["true"] })).rejects.toMatchObject({
      errorType: "NOT_FOUND",
      context: { env_ids: ["known"] },
    });
    await expect(glovebox().processes.stop({ env_id: "known", process_id: "proc-1" })).rejects.toMatchObject({
      errorType: "NOT_FOUND",
    });
    await environments.destroy({ env_id: "known" });
    await expect(environments.destroy({ env_id: "known" })).rejects.toMatchObject({ errorType: "NOT_FOUND" });
  });

  it("takes an id once, however many ask for it at once", async () => {
    const asked = await Promise.allSettled([
      open({ env_id: "race" }),
      open({ env_id: "race" }),
      open({ env_id: "race" }),
    ]);
    const made = asked.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(made).toHaveLength(1);
    const refused = asked.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    const taken = expect.objectContaining({ errorType: "ALREADY_EXISTS" }) as unknown;
    expect(refused).toEqual([taken, taken]);
    const up = Promise.withResolvers<void>();
    const running = glovebox().environments.runCommand(
      { env_id: "race", command: ["sh", "-c", "echo up; sleep 1000"] },
      { onEvent: () => up.resolve() },
    );
    await up.promise;
    await glovebox().environments.destroy({ env_id: "race" });
    expect(await running).toMatchObject({ outcome: "cancelled" });
  });
});
