import { afterAll, describe, expect, it } from "vitest";
import { removeContainer } from "../helpers/remove-container.ts";
import type { Glovebox, RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { skipOrFail } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";

const scene = await openNetworkScene();
const { webAt } = scene;
afterAll(() => scene[Symbol.dispose]());

type StartRequest = Parameters<Glovebox["processes"]["start"]>[0];

/** Answers each line, and leaves a daemon that writes a file as long as it is alive. */
const answers = ["sh", "-c", 'echo up; while read -r line; do echo "got $line"; done; sleep 5555'];
/** Leaves a daemon that writes a file again and again. */
const daemonises = (file: string): string[] => [
  "sh",
  "-c",
  `(setsid sh -c 'while :; do echo alive >/work/${file}; sleep 0.1; done' </dev/null >/dev/null 2>&1 &); echo up; exec sleep 5555`,
];
const appears = `
import os, time
def appears(name):
  if os.path.exists('/work/' + name): os.remove('/work/' + name)
  end = time.time() + 2
  while time.time() < end and not os.path.exists('/work/' + name): time.sleep(0.02)
  return os.path.exists('/work/' + name)
`;
/** Prints which signal arrived, and goes on. */
const signalled = [
  "python3",
  "-uc",
  "import signal, time\nfor s in (signal.SIGHUP, signal.SIGUSR1):\n  signal.signal(s, lambda n, _: print('got', n))\nprint('up')\nwhile True: time.sleep(0.05)",
];
/** Command lines of all processes that the session's user can see. */
const visible = "import glob\nprint(*[open(f).read() for f in glob.glob('/proc/[0-9]*/cmdline')])";

describe.each(engines)("background processes of a session on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { ...scene.settings, images: sessionImages } });
  const python = (code: string, rest: Partial<RunCodeRequest> = {}): Promise<RunCodeResponse> =>
    glovebox().runCode({ language: "python", code, packages: [], ...rest });

  /** A running process, in a new session that ends with the test. */
  async function start(request: StartRequest) {
    const { processes } = glovebox();
    const started = await processes.start(request);
    const { process_id: id, session_id } = started;
    const stdout = async (offset = 0) =>
      (await processes.list({ process_id: id, stdout_offset: offset })).processes[0]?.stdout?.text;
    return {
      ...started,
      id,
      stdout,
      row: async () => (await processes.list({ session_id })).processes.find(({ process_id }) => process_id === id),
      [Symbol.asyncDispose]: async () => void (await glovebox().endSession()),
    };
  }

  it("go on beside calls, whose ends, time limits and clean-ups leave them alone", async () => {
    await python("open('seed', 'w').write('x')");
    await using server = await start({ command: answers, environment: { A: "1" }, cwd: "." });
    expect(server).toMatchObject({ state: "running", restarted: false, ports: [] });
    await expect.poll(() => server.stdout()).toBe("up\n");
    const { processes } = glovebox();
    await processes.writeStdin({ process_id: server.id, text: "é\n" });
    await expect.poll(() => server.stdout(3)).toBe("got é\n");
    const call = await python("import os\nprint(os.listdir('.'))");
    expect(call).toMatchObject({ stdout: "['seed']\n", session_id: server.session_id, restarted: false });
    const daemon = "import subprocess\nsubprocess.Popen(['sleep', '4444'], start_new_session=True)";
    expect(await python(daemon)).toMatchObject({ outcome: "completed" });
    const late = await python("import time\ntime.sleep(100)", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out" });
    const after = await python(visible);
    expect(after).toMatchObject({ container_id: call.container_id, restarted: false });
    expect(after.stdout).not.toContain("4444");
    await processes.writeStdin({ process_id: server.id, text: "still\n" });
    await expect.poll(() => server.stdout(10)).toBe("got still\n");
    expect(await processes.stop({ process_id: server.id })).toMatchObject({ state: "exited", warnings: [] });
    expect((await python(visible)).stdout).not.toContain("5555");
  });

  it("keep what they daemonised while calls end, and take it along when they are stopped", async () => {
    await using parent = await start({ command: daemonises("alive") });
    await expect.poll(() => parent.stdout()).toBe("up\n");
    const look = `${appears}\nprint(appears('alive'))`;
    expect(await python(look)).toMatchObject({ stdout: "True\n" });
    expect(await python("import time\ntime.sleep(100)", { timeout_seconds: 1 })).toMatchObject({
      outcome: "timed_out",
    });
    expect(await python(look)).toMatchObject({ stdout: "True\n", restarted: false });
    expect(await glovebox().processes.stop({ process_id: parent.id })).toMatchObject({ state: "exited", warnings: [] });
    expect(await python(look)).toMatchObject({ stdout: "False\n", restarted: false });
  });

  it("are ended alone while a call runs, with what it daemonised", async () => {
    await using victim = await start({ command: daemonises("victims") });
    await expect.poll(() => victim.stdout()).toBe("up\n");
    const { processes } = glovebox();
    const writer = await processes.start({ command: ["sh", "-c", "read -r line; : >/work/go; exec sleep 5555"] });
    const begun = Promise.withResolvers<void>();
    const code = `${appears}
import os, subprocess, time
subprocess.Popen(${JSON.stringify(daemonises("calls"))})
while not os.path.exists('/work/calls'): time.sleep(0.05)
print('begun', flush=True)
while not os.path.exists('/work/go'): time.sleep(0.05)
print(appears('calls'), appears('victims'))`;
    const running = glovebox().runCode(
      { language: "python", packages: [], code },
      { onEvent: (event) => void (event.type === "output" && begun.resolve()) },
    );
    await begun.promise;
    expect(await processes.stop({ process_id: victim.id })).toMatchObject({ state: "exited", warnings: [] });
    await processes.writeStdin({ process_id: writer.process_id, text: "go\n" });
    expect(await running).toMatchObject({ outcome: "completed", stdout: "up\nbegun\nTrue False\n" });
    expect(await python(`${appears}\nprint(appears('calls'))`)).toMatchObject({ stdout: "False\n", restarted: false });
    expect((await processes.list()).processes).toMatchObject([{ state: "exited" }, { state: "running" }]);
  });

  it("take signals and go on, unless the signal ends them", async () => {
    await using program = await start({ command: signalled });
    await expect.poll(() => program.stdout()).toBe("up\n");
    const { processes } = glovebox();
    expect(await processes.stop({ process_id: program.id, signal: "SIGHUP" })).toMatchObject({ state: "running" });
    expect(await processes.stop({ process_id: program.id, signal: "SIGUSR1" })).toMatchObject({ state: "running" });
    await expect.poll(() => program.stdout()).toBe("up\ngot 1\ngot 10\n");
    await processes.stop({ process_id: program.id, signal: "SIGUSR2" });
    await expect.poll(() => program.row()).toMatchObject({ state: "exited", exit_code: 128 + 12 });
    await failureOf(processes.stop({ process_id: program.id, signal: "SIGHUP" }), "INVALID_REQUEST");
    await using deaf = await start({ command: ["sh", "-c", "trap '' TERM INT; echo up; while :; do sleep 1; done"] });
    await expect.poll(() => deaf.stdout()).toBe("up\n");
    expect(await processes.stop({ process_id: deaf.id, signal: "SIGTERM" })).toMatchObject({ state: "running" });
    expect(await processes.stop({ process_id: deaf.id, signal: "SIGKILL" })).toMatchObject({ state: "exited" });
  });

  it("have the network that they ask for, and share it with no program that did not", async () => {
    const fetches = ["python3", "-c", `${getProgram}\nimport time\ntime.sleep(100)`, `http://${webAt}/`];
    await using server = await start({ command: ["python3", "-u", ...fetches.slice(1)], network: [webAt] });
    await expect.poll(() => server.stdout(), { timeout: 20_000 }).toBe(`hello from ${webAt}\n\n`.replace("\n\n", "\n"));
    const told = await failureOf(python(getProgram, { args: [`http://${webAt}/`] }), "POLICY_DENIED");
    expect(told.context).toMatchObject({ field: "network" });
    const same = await python(getProgram, { args: [`http://${webAt}/`], network: [webAt] });
    expect(same).toMatchObject({ outcome: "completed", stdout: `hello from ${webAt}\n` });
    // The end of the call did not end the process's network.
    expect(await glovebox().processes.stop({ process_id: server.id })).toMatchObject({ state: "exited" });
    expect((await python(getProgram, { args: [`http://${webAt}/`] })).outcome).toBe("failed");
  });

  it("end with their session, and are unknown to others", async () => {
    const { processes } = glovebox();
    await failureOf(processes.list(), "NOT_FOUND");
    await using program = await start({ command: ["sleep", "1000"] });
    await failureOf(processes.list({ session_id: "ses-0" }), "NOT_FOUND");
    await failureOf(processes.stop({ env_id: "none", process_id: program.id }), "NOT_FOUND");
    await failureOf(processes.list({ env_id: "x", session_id: "y" }), "INVALID_REQUEST");
    await failureOf(processes.start({ command: [] }), "INVALID_REQUEST");
    await failureOf(processes.start({ command: ["true"], ports: [1, 1] }), "INVALID_REQUEST");
    await failureOf(processes.start({ command: ["true"], ports: [0] }), "INVALID_REQUEST");
    const missing = await processes.start({ command: ["no-such-program"] });
    await expect
      .poll(async () => (await processes.list({ process_id: missing.process_id })).processes)
      .toMatchObject([{ state: "exited", exit_code: 127 }]);
    expect((await processes.list()).session_id).toBe(program.session_id);
    expect(await glovebox().endSession()).toEqual({ session_id: program.session_id });
    await failureOf(processes.list({ session_id: program.session_id }), "NOT_FOUND");
  });
});

describe.each(engines)("a session with a background process on %s", (engine) => {
  const idle = { session: { idle_timeout: 1 } };
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages, ...idle } });

  it("is not idle until that has ended", async () => {
    const { processes } = glovebox();
    const started = await processes.start({ command: ["sleep", "3"] });
    const { session_id, process_id } = started;
    const state = async () => (await processes.list({ session_id, process_id })).processes[0]?.state;
    await expect.poll(state, { timeout: 20_000 }).toBe("exited");
    await expect
      .poll(() => failureOf(processes.list({ session_id }), "NOT_FOUND").then(() => "gone"), { timeout: 20_000 })
      .toBe("gone");
  });
});

describe.each(["docker", "podman"] as const)("background processes of a replaced sandbox on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("are reported as lost", async () => {
    const { processes } = glovebox();
    const started = await processes.start({ command: ["sleep", "1000"] });
    const call = await glovebox().runCode({ language: "python", code: "print(1)", packages: [] });
    removeContainer(engine, `glovebox-${call.container_id}`);
    await expect
      .poll(async () => (await processes.list()).processes)
      .toMatchObject([{ process_id: started.process_id, state: "lost", exit_code: null }]);
    const next = await processes.start({ command: ["sleep", "1000"] });
    expect(next).toMatchObject({ state: "running", restarted: true, session_id: started.session_id });
    expect(next.warnings.join()).toContain("background processes have ended");
  });
});

describe("background processes for an agent", () => {
  it("are in the session that run_code uses, and their URLs in the text", async (context) => {
    const connected = await connectMcp(revisions[0], ["--engine", "local", "--tools", "session,process"]);
    const { client } = connected;
    const call: typeof connected.call = (...asked) => connected.call(...asked);
    context.onTestFinished(() => client.close());
    const before = await call("run_code", { language: "python", code: "open('a', 'w').write('from a call')" });
    if (before.isError === true) skipOrFail(context, "local", JSON.stringify(before.structuredContent));
    const started = await call("start_process", { command: ["python3", "-m", "http.server", "8000"], ports: [8000] });
    const { session_id } = before.structuredContent as { session_id: string };
    expect(started.structuredContent).toMatchObject({ session_id, state: "running", ports: [{ port: 8000 }] });
    const text = JSON.stringify(started.content);
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    expect(await (await fetch(`${url}/a`)).text()).toBe("from a call");
    expect(JSON.stringify((await call("list_processes", {})).content)).toContain(`port 8000: ${url}`);
    await client.close();
    await expect
      .poll(() =>
        fetch(url).then(
          () => "answers",
          () => "closed",
        ),
      )
      .toBe("closed");
  });
});
