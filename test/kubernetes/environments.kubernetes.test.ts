import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { failureOf } from "../helpers/failure-of.ts";
import { testImages } from "../helpers/test-images.ts";
import type { Glovebox } from "../helpers/wire-glovebox.ts";
import { clusterApi, clusterEnvironment } from "./cluster-environment.ts";
import { useCluster } from "./cluster-glovebox.ts";

type Environments = Glovebox["environments"];
type CommandRequest = Omit<Parameters<Environments["runCommand"]>[0], "env_id" | "command">;

const image = testImages.python;
const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-environments-"));
const secret = `sk-test-${Math.random().toString(36).slice(2)}`;
writeFileSync(path.join(folder, "KEY"), secret);
afterAll(() => rmSync(folder, { recursive: true }));

describe("environments on a cluster", { timeout: 240_000 }, () => {
  const settings = { secrets: { KEY: { file: path.join(folder, "KEY") } } };
  const glovebox = useCluster({ settings });

  async function open(request: Partial<Parameters<Environments["create"]>[0]> = {}) {
    const { environments } = glovebox();
    const made = await environments.create({ image, read_only_root: true, ...request });
    const { env_id } = made;
    return {
      ...made,
      run: (command: string[], more: CommandRequest = {}) => environments.runCommand({ env_id, command, ...more }),
      sh: (script: string, more: CommandRequest = {}) =>
        environments.runCommand({ env_id, command: ["sh", "-c", script], ...more }),
      [Symbol.asyncDispose]: async () => {
        await environments.destroy({ env_id }).catch(() => undefined);
      },
    };
  }

  it("set the variables of both levels, the command's first, and start in the given folder", async () => {
    await using env = await open({ environment: { A: "1", B: "1" } });
    const shown = "echo $A $B $C $(env | grep -c KUBERNETES); pwd; cat";
    const result = await env.sh(shown, { environment: { B: "2", C: "3" }, cwd: "/tmp" });
    expect(result.stdout_tail).toBe("1 2 3 0\n/tmp\n");
    expect(await env.run(["no-such-program"])).toMatchObject({ outcome: "failed", exit_code: 127 });
  });

  it("keep the newest output of each stream, and count what they dropped", async () => {
    await using env = await open();
    const result = await env.run(["python3", "-c", "print('é' * 100_000 + 'end')"]);
    expect(result.stdout_tail.endsWith("ééend\n")).toBe(true);
    expect(result.stdout_dropped_bytes).toBe(200_004 - 65_536);
  });

  it("run commands at once, and end one at its timeout with all that it started, and one that is cancelled", async () => {
    await using env = await open();
    const other = env.sh("echo begun; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo unharmed");
    const stubborn = "trap '' TERM; echo begun; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & sleep 4444";
    const late = await env.sh(stubborn, { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", stdout_tail: "begun\n", warnings: [] });
    const giveUp = new AbortController();
    const left = glovebox().environments.runCommand(
      { env_id: env.env_id, command: ["sh", "-c", "echo up; sleep 4444"] },
      { signal: giveUp.signal, onEvent: ({ type }) => void (type === "output" && giveUp.abort()) },
    );
    expect(await left).toMatchObject({ outcome: "cancelled", stdout_tail: "up\n" });
    const found = await env.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 444[4]\\|trap \"\" TER[M]'");
    expect(found.stdout_tail).toBe("0\n");
    await env.sh(": >/tmp/go");
    expect(await other).toMatchObject({ outcome: "completed", stdout_tail: "begun\nunharmed\n", restarted: false });
  });

  it("distinguish running out of memory from a crash", async () => {
    await using env = await open({ limits: { memory_mb: 64 } });
    const greedy = await env.run(["python3", "-c", "x = bytearray(500 * 1024 * 1024)"]);
    expect(greedy).toMatchObject({ outcome: "oom_killed", error: { error_type: "OOM_KILLED" } });
    expect(await env.sh("kill -9 $$")).toMatchObject({ outcome: "failed", exit_code: 137 });
  });

  it("continue in a new pod when theirs was deleted, and say so", async () => {
    await using env = await open();
    const { processes } = glovebox();
    const started = await processes.start({ env_id: env.env_id, command: ["sleep", "1000"] });
    const up = Promise.withResolvers<void>();
    const lost = glovebox().environments.runCommand(
      { env_id: env.env_id, command: ["sh", "-c", "echo up; sleep 1000"] },
      { onEvent: () => up.resolve() },
    );
    await up.promise;
    const api = clusterApi(clusterEnvironment());
    const pod = await api.path("pods", env.container_id);
    await api.call("delete a pod", { method: "DELETE", path: pod, body: { gracePeriodSeconds: 0 } });
    api.close();
    expect(await lost).toMatchObject({ outcome: "sandbox_lost", exit_code: null });
    const next = await env.sh("echo again");
    expect(next).toMatchObject({ outcome: "completed", stdout_tail: "again\n", restarted: true });
    expect(next.warnings).toContainEqual(expect.stringContaining("new container"));
    const listed = await processes.list({ env_id: env.env_id });
    expect(listed.processes).toMatchObject([{ process_id: started.process_id, state: "lost" }]);
  });

  it("have background processes that outlive their call and can be read, written to and ended", async () => {
    await using env = await open();
    const { env_id } = env;
    const { processes } = glovebox();
    const command = ["sh", "-c", 'echo first; while read -r line; do echo "got $line"; done; sleep 5555'];
    const { process_id } = await processes.start({ env_id, command });
    const stdout = async (offset = 0) =>
      (await processes.list({ env_id, process_id, stdout_offset: offset })).processes[0]?.stdout;
    await expect.poll(() => stdout()).toMatchObject({ text: "first\n", next_offset: 6 });
    await processes.writeStdin({ env_id, process_id, text: "é\n" });
    await expect.poll(() => stdout(6)).toMatchObject({ text: "got é\n", is_over: false });
    expect(await processes.stop({ env_id, process_id })).toMatchObject({ state: "exited", warnings: [] });
    expect((await env.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 555[5]'")).stdout_tail).toBe("0\n");
  });

  it("give a secret to the command that asks, and show it nowhere", async () => {
    await using env = await open();
    const asked = await env.sh('printf %s "$KEY" >/tmp/kept; wc -c </tmp/kept; echo $KEY', { secrets: ["KEY"] });
    expect(asked.stdout_tail).toBe(`${secret.length}\n[redacted:KEY]\n`);
    expect((await env.sh("cat /tmp/kept; env | grep -c KEY")).stdout_tail).toBe("[redacted:KEY]0\n");
    expect(await glovebox().readFile({ env_id: env.env_id, path: "/tmp/kept" })).toMatchObject({
      content: "[redacted:KEY]",
    });
    const api = clusterApi(clusterEnvironment());
    const { body } = await api.call("look", { method: "GET", path: await api.path("pods", env.container_id) });
    api.close();
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it("have files that lead nowhere out of the pod", async () => {
    await using env = await open();
    const { env_id } = env;
    await env.sh("ln -s /etc/passwd link; ln -s loop loop; ln -s /proc/1/root out; mkfifo pipe");
    const read = (file: string) => glovebox().readFile({ env_id, path: file });
    await failureOf(read("loop"), "INVALID_REQUEST");
    await failureOf(read("pipe"), "INVALID_REQUEST");
    const image = await env.sh("cat /etc/passwd");
    const seen = await Promise.all(
      ["../../../../../etc/passwd", "link"].map((file) =>
        read(file).then(
          ({ content }) => content,
          () => "refused",
        ),
      ),
    );
    // Of the image, whose files everybody inside may read, and never the server's.
    for (const content of seen) expect(["refused", image.stdout_tail]).toContain(content);
    await failureOf(glovebox().writeFile({ env_id, path: "link", content: "x" }), "PERMISSION_DENIED");
  });

  it("take an id once, however many ask for it at once, and are gone when they are destroyed", async () => {
    const asked = await Promise.allSettled([1, 2, 3].map(() => open({ env_id: "race" })));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { environments } = glovebox();
    await environments.destroy({ env_id: "race" });
    await failureOf(environments.runCommand({ env_id: "race", command: ["true"] }), "NOT_FOUND");
    expect((await environments.list()).environments).toEqual([]);
  });
});
