import { Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openE2bScene, type E2bScene, type SandboxAddress } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

const envelope = (message: unknown, { flags = 0, length }: { flags?: number; length?: number } = {}): Buffer => {
  const bytes = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length ?? bytes.length, 1);
  return Buffer.concat([head, bytes]);
};

describe("E2B's processes and folders on local", () => {
  useGlovebox("local");
  let scene: E2bScene;
  let sandbox: Sandbox;
  let address: SandboxAddress;
  beforeAll(async () => {
    scene = await openE2bScene();
    sandbox = await Sandbox.create({ envs: { WORD: "x", OTHER: "sandbox" } });
    const { body } = await scene.ask(`GET /sandboxes/${sandbox.sandboxId}`);
    address = { id: sandbox.sandboxId, token: String(body["envdAccessToken"]) };
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it("run commands of the unmodified SDK, with output, exit codes, variables and folders", async () => {
    const said: string[] = [];
    const ran = await sandbox.commands.run('echo "$WORD $OTHER"; echo err >&2; pwd', {
      envs: { OTHER: "own" },
      cwd: "/tmp",
      onStdout: (text) => void said.push(text),
    });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "x own\n/tmp\n", stderr: "err\n" });
    expect(said.join("")).toBe("x own\n/tmp\n");
    await expect(sandbox.commands.run("exit 7")).rejects.toMatchObject({ exitCode: 7 });
    await expect(sandbox.commands.run("true", { cwd: "/nowhere" })).rejects.toThrow("cwd '/nowhere' does not exist");
    const large = await sandbox.commands.run("head -c 500000 /dev/zero | tr '\\0' a");
    expect(large.stdout).toHaveLength(500_000);
  });

  it("go on in the background, are listed, fed, joined and killed", async () => {
    const reader = await sandbox.commands.run("while read line; do echo got $line; done; echo end", {
      background: true,
      stdin: true,
    });
    const alive = await sandbox.commands.run(`kill -0 ${reader.pid} && echo alive`);
    expect(alive.stdout).toBe("alive\n");
    const listed = await sandbox.commands.list();
    expect(listed.map(({ pid }) => pid)).toContain(reader.pid);
    const joined = await sandbox.commands.connect(reader.pid);
    await sandbox.commands.sendStdin(reader.pid, "a\n");
    await expect.poll(() => joined.stdout).toBe("got a\n");
    await sandbox.commands.closeStdin(reader.pid);
    expect(await reader.wait()).toMatchObject({ exitCode: 0, stdout: "got a\nend\n" });
    expect(await joined.wait()).toMatchObject({ exitCode: 0 });

    const sleeper = await sandbox.commands.run("sleep 100", { background: true });
    await sleeper.disconnect();
    expect(await sandbox.commands.kill(sleeper.pid)).toBe(true);
    await expect.poll(() => sandbox.commands.kill(sleeper.pid)).toBe(false);
    await expect(sandbox.commands.run("sleep 100", { timeoutMs: 500 })).rejects.toThrow(/time/i);
  });

  it("have terminals", async () => {
    const said: Buffer[] = [];
    const terminal = await sandbox.pty.create({
      cols: 90,
      rows: 20,
      onData: (data) => void said.push(Buffer.from(data)),
    });
    await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 30 });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from("stty size; exit\n"));
    await terminal.wait().catch(() => undefined);
    expect(Buffer.concat(said).toString()).toContain("30 100");
    // One that is killed has ended when its client is told so.
    const killed = await sandbox.pty.create({ cols: 80, rows: 24, onData: () => undefined });
    expect(await sandbox.pty.kill(killed.pid)).toBe(true);
    const left = await sandbox.commands.run(`kill -0 ${killed.pid} 2>/dev/null && echo alive || echo gone`);
    expect(left.stdout).toBe("gone\n");
    expect(await sandbox.pty.kill(killed.pid)).toBe(false);
  });

  it("make, list, move and remove folders and tell what is in them", async () => {
    const { files } = sandbox;
    expect(await files.makeDir("d/e")).toBe(true);
    expect(await files.makeDir("d/e")).toBe(false);
    await files.write("d/e/f.txt", "f");
    await sandbox.commands.run("ln -s e/f.txt d/l");
    const listed = await files.list("d", { depth: 2 });
    expect(listed.map(({ path }) => path)).toEqual(["/home/user/d/e", "/home/user/d/e/f.txt", "/home/user/d/l"]);
    expect(listed.map(({ type }) => type)).toEqual(["dir", "file", "file"]);
    expect(await files.getInfo("d/l")).toMatchObject({ name: "l", size: 1, symlinkTarget: "/home/user/d/e/f.txt" });
    const moved = await files.rename("d/e/f.txt", "g/h.txt");
    expect(moved.path).toBe("/home/user/g/h.txt");
    expect([await files.exists("d/e/f.txt"), await files.exists("g/h.txt")]).toEqual([false, true]);
    await files.remove("g");
    expect(await files.exists("g/h.txt")).toBe(false);
    await expect(files.list("missing")).rejects.toThrow("does not exist");
  });

  it("are closed without their sandbox's token and refuse what is malformed, by name", async () => {
    const json = { "content-type": "application/json" };
    const stream = { "content-type": "application/connect+json" };
    const ask = async (
      route: string,
      headers: Record<string, string>,
      body: RequestInit["body"],
      token = address.token,
    ) => {
      const response = await scene.askSandbox({ ...address, token }, `POST /${route}`, { headers, body });
      return { status: response.status, text: await response.text() };
    };
    const list = "process.Process/List";
    const start = "process.Process/Start";
    const theirs = await scene.ask("POST /v2/sandboxes", { templateID: "base" }, { key: scene.other.text });
    for (const token of ["", "x", String(theirs.body["envdAccessToken"])]) {
      expect((await ask(list, json, "{}", token)).status).toBe(401);
    }
    const root = { ...json, authorization: `Basic ${Buffer.from("root:").toString("base64")}` };
    const asked: readonly (readonly [string, Record<string, string>, RequestInit["body"], number, string])[] = [
      [list, root, "{}", 401, "invalid username: 'root'"],
      [list, { "content-type": "application/proto" }, "x", 501, "unimplemented"],
      [list, { ...json, "content-encoding": "gzip" }, "x", 501, "compressed"],
      [list, json, "{", 400, "invalid_argument"],
      ["process.Process/Nothing", json, "{}", 501, "unimplemented"],
      ["process.Process/StreamInput", stream, envelope({}), 501, "unimplemented"],
      [
        "process.Process/SendSignal",
        json,
        '{"process":{"pid":999999},"signal":"SIGNAL_SIGKILL"}',
        404,
        "pid 999999 not found",
      ],
      ["filesystem.Filesystem/Stat", json, '{"path":"a\\u0000b"}', 400, "no NUL"],
      ["filesystem.Filesystem/Stat", json, '{"path":"../../../../../nowhere"}', 404, "does not exist"],
      [start, stream, "", 200, "expected one envelope"],
      [start, stream, envelope({}, { length: 4_294_967_295 }), 200, "length 4294967295"],
      [start, stream, envelope({}, { length: 0 }), 200, "length 0"],
      [start, stream, envelope({}, { flags: 1 }), 200, "compressed"],
      [start, stream, Buffer.concat([envelope({}), envelope({})]), 200, "invalid_argument"],
      [start, stream, envelope({ process: { cmd: "" } }), 200, "invalid_argument"],
      [start, stream, envelope({ process: { cmd: "x", novelty: 1 } }), 200, "novelty"],
      [start, stream, Buffer.alloc(9 * 1024 * 1024), 200, "resource_exhausted"],
    ];
    for (const [route, headers, body, status, words] of asked) {
      const answer = await ask(route, headers, body);
      expect([route, words, answer.status]).toEqual([route, words, status]);
      expect(answer.text).toContain(words);
    }
  });

  it("end with their sandbox", async () => {
    const other = await Sandbox.create();
    const running = other.commands.run("sleep 100", { timeoutMs: 0 });
    running.catch(() => undefined);
    await expect.poll(async () => (await other.commands.list()).length).toBe(1);
    await other.kill();
    await expect(running).rejects.toThrow(/killed|end of life|not found|terminated/i);
  });
});
