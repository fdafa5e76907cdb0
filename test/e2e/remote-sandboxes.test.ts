import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/library/objects/sandbox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { openRemoteScene, type RemoteScene } from "../helpers/remote-sandbox.ts";
import { isRequired } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

async function* pieces(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield new Uint8Array(bytes).fill(120);
}

describe.each(["docker", "podman", "local"] as const)("a client in a sandbox of a server on %s", (engine) => {
  let scene: RemoteScene;
  let sandbox: Sandbox;
  let folder: string;
  const isTested = engine === "local" || isRequired(engine);
  beforeAll(async () => {
    if (!isTested) return;
    folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
    scene = await openRemoteScene(engine, { GLOVEBOX_IMAGE_SESSION: sessionImages.session });
    sandbox = scene.glovebox.sandboxes.get(scene.id);
  });
  afterAll(async () => {
    if (!isTested) return;
    await scene[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  beforeEach((context) => {
    if (!isTested) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });

  it("runs a program with its streams, its input as it comes, and its exit code", async () => {
    const line = 'cat a.txt; echo "$A"; pwd; wc -c; echo no >&2; exit 7';
    const run = sandbox.run({ command: ["sh", "-c", line], environment: { A: "b c" } }, { stdin: pieces(40, 50_000) });
    expect(await run).toMatchObject({ exitCode: 7, stdout: "hib c\n/work\n2000000\n", stderr: "no\n" });
    // More than everything that may be in transit, to a slow reader.
    let count = 0;
    for await (const { bytes } of sandbox.run(["head", "-c", "3000000", "/dev/zero"])) {
      if (count === 0) await new Promise((resolve) => setTimeout(resolve, 300));
      count += bytes.length;
    }
    expect(count).toBe(3_000_000);
    expect((await sandbox.run(["no-such-program"])).exitCode).toBe(127);
    expect((await sandbox.run(["cat"])).stdout).toBe("");
  });

  it("ends all of a program and nothing else when its client goes, gives up, or asks for it", async () => {
    const [stays, gone, given] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
    const line = (seconds: string): string => `trap '' TERM; (setsid env -i sleep ${seconds} &); sleep ${seconds}`;
    const over = new AbortController();
    const staying = sandbox.run(["sleep", stays], { signal: over.signal });
    const socket = scene.open(`/api/sandbox/${scene.id}/exec`);
    socket.socket.on("open", () => socket.say({ type: "start", request: { command: ["sh", "-c", line(gone)] } }));
    const abort = new AbortController();
    const givenUp = sandbox.run(["sh", "-c", line(given)], { signal: abort.signal });
    await until(() => [stays, gone, given].every((seconds) => sleepersFor(seconds).length > 0));
    await until(() => sleepersFor(gone).length === 2 && sleepersFor(given).length === 2);
    // No closing message: its process was killed.
    socket.socket.terminate();
    abort.abort();
    await failureOf(givenUp, "CANCELLED");
    await until(() => sleepersFor(given).length === 0 && sleepersFor(gone).length === 0);
    expect(sleepersFor(stays)).toHaveLength(1);
    over.abort();
    await failureOf(staying, "CANCELLED");
    await until(() => sleepersFor(stays).length === 0);
    const signals = (async function* () {
      await until(() => sleepersFor(stays).length > 0);
      yield "SIGTERM" as const;
    })();
    const caught = sandbox.run(["sh", "-c", `trap 'exit 9' TERM; sleep ${stays} & wait`], { signals });
    expect((await caught).exitCode).toBe(9);
    await until(() => sleepersFor(stays).length === 0);
  });

  it("has a terminal that follows the size of the client's", async () => {
    let drawn = "";
    const typed = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("stty size; tty; echo fi''rst\r");
      await until(() => drawn.includes("first"));
      for (let tries = 0; tries < 100 && !drawn.includes("50 120"); tries += 1) {
        yield Buffer.from("stty size\r");
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      yield Buffer.from("exit 4\r");
      // The end of the typed input would hang up.
      await new Promise(() => undefined);
    };
    const sizes = async function* (): AsyncGenerator<{ columns: number; rows: number }> {
      await until(() => drawn.includes("first"));
      yield { columns: 120, rows: 50 };
    };
    const onEvent = (event: { type: string; bytes?: Uint8Array }): void => {
      if (event.type === "output") drawn += Buffer.from(event.bytes ?? []).toString();
    };
    const size = { columns: 90, rows: 30 };
    const { exitCode } = await sandbox.terminal(size, { stdin: typed(), sizes: sizes(), onEvent });
    expect(exitCode).toBe(4);
    expect(drawn).toMatch(/30 90\s+\/dev\/pts\/\d+\s[^]*50 120/u);
  });

  it("glovebox exec and cp work as in a sandbox of this machine", async () => {
    const at = (...names: string[]): string => path.join(folder, ...names);
    const inside = (name: string): string => `${scene.id}:/work/${name}`;
    mkdirSync(at("tree/sub"), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(at("tree/sub/data"), bytes, { mode: 0o750 });
    writeFileSync(at("tree/line\nbreak"), "");
    symlinkSync("sub/data", at("tree/link"));
    const ok = { exitCode: 0, stdout: "", stderr: "" };
    expect(await scene.command(["cp", at("tree"), inside("there")])).toMatchObject(ok);
    const line = "cd there && mkfifo pipe && ln -s /etc/passwd out && ln sub/data second && ls; exit 3";
    const listed = await scene.command(["exec", scene.id, "sh", "-c", line]);
    expect(listed).toMatchObject({ exitCode: 3, stdout: expect.stringContaining("second") });
    const back = await scene.command(["cp", inside("there"), at("back")]);
    expect(back).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/links that lead out[^]*pipe|pipe[^]*links/),
    });
    expect(readdirSync(at("back")).toSorted()).toEqual(["line\nbreak", "link", "second", "sub"]);
    expect(readFileSync(at("back/sub/data")).equals(bytes)).toBe(true);
    expect(readlinkSync(at("back/link"))).toBe("sub/data");
    expect(await scene.command(["cp", inside("there/link"), at("one")])).toMatchObject(ok);
    expect(await scene.command(["cp", at("one"), inside("")])).toMatchObject(ok);
    expect((await sandbox.run(["cmp", "/work/one", "/work/there/sub/data"])).exitCode).toBe(0);
  });

  it("copyIn and copyOut copy between it and the client's machine, as far as the limits allow", async () => {
    const at = (...names: string[]): string => path.join(folder, "library", ...names);
    mkdirSync(at("sub"), { recursive: true });
    writeFileSync(at("sub/text"), "kept");
    const into = await sandbox.copyIn(at(), "/work/library");
    expect(into).toMatchObject({ sandboxId: scene.id, warnings: [] });
    expect(await sandbox.copyOut("/work/library/sub", at("back"))).toMatchObject({ bytes: 4, warnings: [] });
    expect(readFileSync(at("back/text"), "utf8")).toBe("kept");
    const refused = await failureOf(sandbox.copyOut("/work/library", at("none"), { maxBytes: 2 }), "POLICY_DENIED");
    expect(refused.message).toContain("2 bytes");
  });
});

it("the end of the server ends a program in one of its sandboxes", async () => {
  const seconds = uniqueSeconds();
  const scene = await openRemoteScene("local");
  const ended = scene.glovebox.sandboxes.get(scene.id).run(["sleep", seconds]);
  const failure = ended.then(
    () => null,
    (error: unknown) => error,
  );
  await until(() => sleepersFor(seconds).length > 0);
  await scene.server[Symbol.asyncDispose]();
  expect(await failure).toMatchObject({
    errorType: expect.stringMatching(/^(?:CANCELLED|SANDBOX_LOST|NETWORK_ERROR)$/),
  });
  await until(() => sleepersFor(seconds).length === 0);
  await scene.glovebox.close();
});

describe("what is wrong with a copy", () => {
  let scene: RemoteScene;
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  beforeAll(async () => void (scene = await openRemoteScene("local")));
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it("is reported, whichever end notices it", async () => {
    const there = path.join(folder, "there");
    mkdirSync(there);
    writeFileSync(path.join(there, "f"), Buffer.alloc(3_000_000));
    const cp = (...argv: string[]): ReturnType<RemoteScene["command"]> => scene.command(["cp", ...argv]);
    const inside = (name: string): string => `${scene.id}:/work/${name}`;
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [[path.join(folder, "none"), inside("x")], 125, "does not exist on this machine"],
      [[inside("none"), path.join(folder, "x")], 125, "does not exist in the sandbox"],
      [[there, inside("a.txt")], 2, "is no folder in the sandbox"],
      [["--max-size", "2m", there, inside("y")], 125, "--max-size"],
      [["--max-entries", "1", inside("."), path.join(folder, "z")], 125, "--max-entries"],
      [[there, "sbx-nothing:/work/x"], 125, "You have no live sandbox"],
    ];
    await scene.glovebox.sandboxes.get(scene.id).run(["touch", "b", "c"]);
    for (const [argv, exitCode, words] of cases) {
      expect(await cp(...argv), argv.join(" ")).toMatchObject({ exitCode, stderr: expect.stringContaining(words) });
    }
  });
});
