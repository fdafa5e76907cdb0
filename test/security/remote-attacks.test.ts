import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { connect, type Glovebox } from "../../src/index.ts";
import { tarEnd, tarHeader, tarPadding, type TarEntry } from "../../src/base/tar.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import {
  bearer,
  openRaw,
  openRemoteScene,
  refusalOf,
  type RawCall,
  type RemoteScene,
} from "../helpers/remote-sandbox.ts";
import { runCommand } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

/** Bytes that either end may have in transit. */
const credit = 262_144;
const secret = "hunter2-hunter2-hunter2";
const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
let scene: RemoteScene;
let stranger: Glovebox;
beforeAll(async () => {
  scene = await openRemoteScene("local", { GLOVEBOX_SECRETS: "KEY", KEY: secret }, ["--secrets", "KEY"]);
  stranger = connect({ url: scene.server.url, key: (await scene.server.addKey("stranger")).text });
});
afterAll(async () => {
  await stranger.close();
  await scene[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const exec = (): string => `/api/sandbox/${scene.id}/exec`;
const started = (command: readonly string[]): object => ({ type: "start", request: { command } });

async function opened(route = exec()): Promise<RawCall> {
  const call = scene.open(route);
  await once(call.socket, "open");
  return call;
}

/** Begins a command and resolves when it runs. */
async function running(line: string): Promise<RawCall & { readonly seconds: string }> {
  const seconds = uniqueSeconds();
  const call = await opened();
  call.say(started(["sh", "-c", `sleep ${seconds} & ${line}`]));
  await until(() => sleepersFor(seconds).length > 0);
  return { ...call, seconds };
}

function tar(...entries: readonly (TarEntry & { readonly content?: string })[]): Buffer {
  const parts = entries.flatMap(({ content = "", ...entry }) => [
    tarHeader(entry),
    Buffer.from(content),
    tarPadding(content.length),
  ]);
  return Buffer.concat([...parts, tarEnd]);
}

const facts = { mode: 0o644, modifiedAtMs: 0 };
const file = (name: string, content: string): TarEntry & { readonly content: string } => ({
  ...{ kind: "file", path: name, ...facts, sizeBytes: content.length, content },
});
const top: TarEntry = { kind: "folder", path: "", ...facts, mode: 0o755 };

describe("who may reach into a sandbox of a key", () => {
  it("excludes everyone else: no key, another key, the server's own user", async () => {
    const url = `${scene.server.url.replace("http", "ws")}${exec()}`;
    expect(await refusalOf(url, {})).toBe(401);
    expect(await refusalOf(url, bearer("gbx_nobody"))).toBe(401);
    const foreign = stranger.sandboxes.get(scene.id);
    const nothing = stranger.sandboxes.get("sbx-nothing");
    const [refused, unknown] = await Promise.all(
      [foreign, nothing].map((each) => failureOf(each.run(["id"]), "NOT_FOUND")),
    );
    expect(refused?.message.replace(scene.id, "X")).toBe(unknown?.message.replace("sbx-nothing", "X"));
    await failureOf(foreign.logs().next(), "NOT_FOUND");
    await failureOf(foreign.terminal({ columns: 80, rows: 24 }), "NOT_FOUND");
    for (const token of [(await scene.server.addKey("third")).text, scene.server.userToken]) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = JSON.stringify({ command: ["id"] });
      const answer = await fetch(`${scene.server.url}${exec()}`, { method: "POST", headers, body });
      expect([answer.status, await answer.json()]).toMatchObject([404, { error_type: "NOT_FOUND" }]);
      for (const route of ["pack", "unpack", "terminal"]) {
        const call = openRaw(url.replace(/exec$/, route), bearer(token));
        await once(call.socket, "open");
        const request = {
          pack: { source: "/work" },
          unpack: { target: "/work", name: "x" },
          terminal: { columns: 80, rows: 24 },
        }[route];
        call.say({ type: "start", request });
        expect(await call.closed).toBe(1000);
        expect(call.events).toMatchObject([{ event: "error", error: { error_type: "NOT_FOUND" } }]);
      }
    }
  });

  it("excludes web pages, and names of the server that are not its own", async () => {
    const url = `${scene.server.url.replace("http", "ws")}${exec()}`;
    const key = bearer(scene.key.text);
    expect(await refusalOf(url, { ...key, origin: "https://elsewhere.example" })).toBe(403);
    expect(await refusalOf(url, { headers: { ...key.headers, host: "elsewhere.example" } })).toBe(403);
    expect(await refusalOf(`${url}?ticket=${"a".repeat(43)}`, {})).toBe(401);
  });

  it("excludes a revoked key, even in the middle of a call", async () => {
    const key = await scene.server.addKey("short");
    await using glovebox = connect({ url: scene.server.url, key: key.text });
    const session = await glovebox.sessions.open();
    const { sandboxId } = await session.run({ language: "python", code: "1" });
    const seconds = uniqueSeconds();
    const call = openRaw(`${scene.server.url.replace("http", "ws")}/api/sandbox/${sandboxId}/exec`, bearer(key.text));
    await once(call.socket, "open");
    call.say(started(["sh", "-c", `sleep ${seconds}`]));
    await until(() => sleepersFor(seconds).length > 0);
    await scene.server.revoke(key);
    expect(await call.closed).toBe(1008);
    expect(call.events.at(-1)).toMatchObject({ event: "error", error: { error_type: "CANCELLED" } });
    await until(() => sleepersFor(seconds).length === 0);
  });

  it("does not see the values of secrets that programs there were given", async () => {
    const session = await scene.glovebox.sessions.open();
    const code = "import os; open('kept', 'w').write(os.environ['KEY'])";
    const { sandboxId } = await session.run({ language: "python", code, secrets: ["KEY"] });
    const { stdout } = await scene.glovebox.sandboxes.get(sandboxId).run(["sh", "-c", "wc -c < kept; cat kept"]);
    expect(stdout).toBe(`${secret.length}\n[redacted:KEY]`);
    await session.close();
  });
});

describe("a client that breaks the rules", () => {
  const nonsense: readonly (readonly [string, (call: RawCall) => void, number])[] = [
    ["input before the start", ({ socket }) => socket.send(Buffer.from("x")), 1008],
    ["another message first", ({ say }) => say({ type: "input_end" }), 1008],
    ["no JSON", ({ socket }) => socket.send("{"), 1008],
    ["a message that there is not", ({ say }) => say({ type: "own", id: 1 }), 1008],
    ["a prototype", ({ socket }) => socket.send('{"type":"start","__proto__":{"request":{}}}'), 1008],
    ["3 MB at once", ({ socket }) => socket.send("x".repeat(3_000_000)), 1009],
    ["an id of its own beside the path's", ({ say }) => say({ type: "start", request: { sandbox_id: "x" } }), 1000],
    ["a command that is none", ({ say }) => say(started([])), 1000],
    ["a command beyond all bounds", ({ say }) => say(started(Array.from({ length: 65_001 }, () => "x"))), 1000],
    ["a field that there is not", ({ say }) => say({ type: "start", request: { command: ["id"], uid: "0" } }), 1000],
  ];

  it.each(nonsense)("by %s is cut off, and nothing runs", async (_, attack, code) => {
    const call = await opened();
    attack(call);
    expect(await call.closed).toBe(code);
    const refused = { event: "error", error: { error_type: "INVALID_REQUEST" } };
    expect(call.events).toMatchObject(code === 1000 ? [refused] : []);
  });

  it.each<readonly [string, (call: RawCall) => void]>([
    ["a second start", ({ say }) => say(started(["id"]))],
    ["too much in one message", ({ socket }) => socket.send(Buffer.alloc(65_537))],
    [
      "more input than was granted",
      ({ socket }) => Array.from({ length: 64 }, () => socket.send(Buffer.alloc(65_536))),
    ],
    ["a message of input that is empty", ({ socket }) => socket.send(Buffer.alloc(0))],
    ["a word that is too long", ({ say }) => say({ type: "credit", bytes: 1, more: "x".repeat(2000) })],
    ["a credit that is none", ({ say }) => say({ type: "credit", bytes: -1 })],
    ["input after its end", ({ say, socket }) => [say({ type: "input_end" }), socket.send(Buffer.from("x"))]],
    ["a signal that there is not", ({ say }) => say({ type: "signal", signal: "SIGSTOP" })],
  ])("in the middle, by %s, loses its program", async (_, attack) => {
    const call = await running("sleep 1000");
    attack(call);
    expect(await call.closed).toBe(1008);
    await until(() => sleepersFor(call.seconds).length === 0);
  });

  it.each(["x", ""])("by input beside a request that has it (%j) is told so, and loses its program", async (stdin) => {
    const seconds = uniqueSeconds();
    const call = await opened();
    call.say({ type: "start", request: { command: ["sh", "-c", `sleep ${seconds}`], stdin } });
    call.say({ type: "input_end" });
    await until(() => sleepersFor(seconds).length > 0);
    call.socket.send(Buffer.from("y"));
    // A server that says nothing would wait as long as the program sleeps, and the end of the tests for it.
    const late = setTimeout(() => call.socket.terminate(), 10_000);
    expect(await call.closed).toBe(1008);
    clearTimeout(late);
    expect(call.events.at(-1)).toMatchObject({ event: "error", error: { error_type: "INVALID_REQUEST" } });
    await until(() => sleepersFor(seconds).length === 0);
  });

  it("by reading nothing holds its program up, and the server buffers no more than was granted", async () => {
    const call = await running("yes 0123456789");
    await until(() => call.received() >= credit);
    // As much as would arrive in a fraction of that time.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(call.received()).toBe(credit);
    call.say({ type: "credit", bytes: 65_536 });
    await until(() => call.received() === credit + 65_536);
    call.socket.terminate();
    await until(() => sleepersFor(call.seconds).length === 0);
  });

  it("by granting without end what it does not read costs the server nothing", async () => {
    const residentMb = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${scene.server.pid}/status`, "utf8"))?.[1]) / 1024;
    const call = await running("yes 0123456789");
    const beforeMb = residentMb();
    call.socket.pause();
    for (let index = 0; index < 3000; index++) {
      call.say({ type: "credit", bytes: credit });
      if (index % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(residentMb() - beforeMb).toBeLessThan(150);
    expect((await scene.glovebox.sandboxes.get(scene.id).run(["echo", "usable"])).stdout).toBe("usable\n");
    call.socket.terminate();
    await until(() => sleepersFor(call.seconds).length === 0);
  });
});

describe("an archive of a hostile client", () => {
  const unpack = async (archive: Buffer): Promise<RawCall> => {
    const call = await opened(`/api/sandbox/${scene.id}/unpack`);
    call.say({ type: "start", request: { target: "/work/got", name: "got", max_bytes: 1_000_000, max_entries: 50 } });
    for (let at = 0; at < archive.length; at += 65_536) call.socket.send(archive.subarray(at, at + 65_536));
    call.say({ type: "input_end" });
    await call.closed;
    return call;
  };
  const sparse: TarEntry = { kind: "file", path: "huge", ...facts, sizeBytes: 2 ** 40 };

  it.each<readonly [string, Buffer, string]>([
    ["a name that leads up", tar(top, file("../evil", "x")), "INVALID_REQUEST"],
    ["nothing", Buffer.alloc(0), "INVALID_REQUEST"],
    ["no archive", Buffer.alloc(4096, "x"), "INVALID_REQUEST"],
    ["one that is cut off", tar(top, file("a", "x".repeat(2000))).subarray(0, 1700), "INVALID_REQUEST"],
    ["a file of a tebibyte", Buffer.concat([tarHeader(top), tarHeader(sparse)]), "POLICY_DENIED"],
    [
      "more files than it may",
      tar(top, ...Array.from({ length: 60 }, (_, index) => file(`f${index}`, ""))),
      "POLICY_DENIED",
    ],
    ["no top", tar(file("", "x")), "INVALID_REQUEST"],
  ])("with %s is refused", async (_, archive, type) => {
    const { events } = await unpack(archive);
    const error = events.find(({ event }) => event === "error")?.["error"];
    expect(error).toMatchObject({ error_type: expect.stringMatching(new RegExp(`^(${type})$`)) });
    const { stdout } = await scene.glovebox.sandboxes
      .get(scene.id)
      .run(["sh", "-c", "ls -d /work/evil /evil; ls a.txt; rm -rf got"]);
    expect(stdout).toBe("a.txt\n");
  });
});

describe("an archive of a hostile server", () => {
  /** A server that answers every channel with these bytes. */
  async function lying(bytes: Buffer): Promise<{ readonly url: string } & AsyncDisposable> {
    const server = createServer((_, response) => response.end('{"ticket":"t","expires_in_seconds":30}'));
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket) => {
      socket.on("message", () => {
        if (socket.readyState !== socket.OPEN) return;
        for (let at = 0; at < bytes.length; at += 65_536) {
          socket.send(Buffer.concat([Buffer.of(1), bytes.subarray(at, at + 65_536)]));
        }
        socket.send(
          JSON.stringify({ event: "result", result: { sandbox_id: "x", entries: 1, bytes: 1, warnings: [] } }),
        );
        socket.close();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      [Symbol.asyncDispose]: async () => {
        for (const socket of sockets.clients) socket.terminate();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  const outside = path.join(folder, "outside");
  it.each<readonly [string, Buffer]>([
    ["names that lead up", tar(top, file("../outside", "x"))],
    [
      "a link and a file behind it",
      tar(top, { kind: "link", path: "l", target: "..", ...facts }, file("l/outside", "x")),
    ],
    ["more than was granted", Buffer.alloc(1_000_000)],
    [
      "a second name of a file of this machine",
      tar(top, { kind: "hard-link", path: "outside", target: "../kept", ...facts }),
    ],
    ["what is no archive", Buffer.alloc(1000, "x")],
  ])("with %s leaves nothing outside of the target", async (_, bytes) => {
    await using server = await lying(bytes);
    writeFileSync(path.join(folder, "kept"), "kept");
    const environment = { GLOVEBOX_URL: server.url, GLOVEBOX_KEY: "k" };
    const result = await runCommand(["cp", "sbx-x:/work/a", path.join(folder, "got")], { environment });
    expect(result.stderr).not.toBe("");
    expect(existsSync(outside)).toBe(false);
    expect(readdirSync(folder).filter((name) => name !== "got")).toEqual(["kept"]);
    for (const name of existsSync(path.join(folder, "got")) ? readdirSync(path.join(folder, "got")) : []) {
      expect(readFileSync(path.join(folder, "got", name), "utf8")).not.toBe("kept");
    }
    rmSync(path.join(folder, "got"), { recursive: true, force: true });
  });
});
