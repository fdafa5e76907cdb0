import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { failureOf } from "../../test/helpers/failure-of.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { CallOperation, OperationCall } from "../operations/contract/operation-contract.ts";
import { readLogsContract } from "../operations/logs-contract.ts";
import { execInSandboxContract } from "../operations/live-sandbox-contract.ts";
import { PeerFolder } from "./peer-folder.ts";
import { PeerServer } from "./peer-server.ts";
import { Peers } from "./peers.ts";

let folder = "";
const opened: PeerServer[] = [];
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-peer-"))));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const answer = {
  sandbox_id: "sbx-1",
  exit_code: 0,
  stdout: "",
  stderr: "",
  stdout_truncated: false,
  stderr_truncated: false,
};
const exec = { sandbox_id: "sbx-1", command: ["true"] };
const operator = { principal: "local" };

type Do = (request: object, call: OperationCall) => Promise<unknown>;

function folderOf(owner = "own-1", expired: readonly string[] = []): PeerFolder {
  return new PeerFolder({
    folder: path.join(folder, "peers"),
    owner,
    uid: process.getuid?.() ?? null,
    platform: process.platform,
    leases: { stateOf: (name) => Promise.resolve(expired.includes(name) ? "expired" : "living") },
  });
}

async function open(work: Do = () => Promise.resolve(answer)): Promise<{
  readonly server: PeerServer;
  readonly address: string;
  readonly ask: CallOperation;
}> {
  const own = folderOf();
  const call: CallOperation = (_, request, how) => work(request, how) as never;
  const server = new PeerServer({ folder: own, platform: process.platform, call, logger });
  opened.push(server);
  const address = await server.open();
  return { server, address, ask: new Peers(folderOf("own-2")).at(address) };
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}

describe("the folder of the sockets", () => {
  it("has a socket for this user alone, which is gone when it is closed", async () => {
    const { server, address, ask } = await open();
    expect(await server.open()).toBe(address);
    expect(statSync(path.dirname(address)).mode & 0o777).toBe(0o700);
    expect(statSync(address).mode & 0o777).toBe(0o600);
    await server.close();
    expect(existsSync(address)).toBe(false);
    await failureOf(ask(execInSandboxContract, exec, operator), "SANDBOX_LOST");
  });

  it.each([
    ["linux", true],
    ["darwin", true],
    ["win32", false],
  ] as const)("on %s a mode is set: %s; a pipe of Windows has none", async (platform, isSet) => {
    const ownAddress = path.join(folder, "socket");
    const call: CallOperation = () => Promise.resolve(answer) as never;
    const place = { open: () => Promise.resolve(), ownAddress };
    const server = new PeerServer({ folder: place, platform, call, logger });
    opened.push(server);
    await server.open();
    expect((statSync(ownAddress).mode & 0o777) === 0o600).toBe(isSet);
  });

  it("is refused when others may enter it", async () => {
    mkdirSync(path.join(folder, "peers"), { mode: 0o700 });
    chmodSync(path.join(folder, "peers"), 0o755);
    await expect(open()).rejects.toThrow("open to other users");
    expect(readdirSync(path.join(folder, "peers"))).toEqual([]);
  });

  it("is swept of processes that are gone, and of no others, which can be asked", async () => {
    const { address } = await open();
    for (const name of ["own-2", "own-3"]) writeFileSync(path.join(folder, "peers", name), "");
    const other = folderOf("own-3", ["own-2"]);
    expect(await other.others()).toEqual([address]);
    await other.forgetLeft();
    expect(readdirSync(path.join(folder, "peers")).toSorted()).toEqual(["own-1", "own-3"]);
  });
});

describe("a call of another process", () => {
  it("is the operator's, and carries every byte both ways, in order", async () => {
    let how: OperationCall | undefined;
    const { ask } = await open(async (_, call) => {
      how = call;
      for await (const bytes of call.stdin ?? []) await call.onEvent?.({ type: "output", stream: "stdout", bytes });
      await call.onEvent?.({ type: "output", stream: "stderr", bytes: Buffer.from("end") });
      return answer;
    });
    const sent = Buffer.alloc(3_000_000, "abcdefg");
    const came = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
    const call: OperationCall = {
      ...operator,
      stdin: pieces(sent),
      onEvent: (event) => void (event.type === "output" && came[event.stream].push(event.bytes)),
    };
    expect(await ask(execInSandboxContract, exec, call)).toEqual(answer);
    expect(Buffer.concat(came.stdout).equals(sent)).toBe(true);
    expect(Buffer.concat(came.stderr).toString()).toBe("end");
    expect(how).toMatchObject({ principal: "local", isOperator: true });
  });

  it("is held up while its caller takes no output", async () => {
    let [told, taken] = [0, 0];
    const { ask } = await open(async (_, { onEvent, signal }) => {
      while (signal?.aborted === false) {
        await onEvent?.({ type: "output", stream: "stdout", bytes: Buffer.alloc(65_536) });
        told += 65_536;
      }
      return answer;
    });
    const full = Promise.withResolvers<void>();
    const giveUp = new AbortController();
    const never = new Promise<void>(() => undefined);
    const onEvent = (event: { readonly type: string }): Promise<void> | void => {
      if (event.type !== "output") return;
      taken += 65_536;
      full.resolve();
      return never;
    };
    const asked = ask(execInSandboxContract, exec, { ...operator, signal: giveUp.signal, onEvent });
    await full.promise;
    await expect.poll(() => told, { timeout: 10_000 }).toBe(262_144);
    expect(taken).toBe(65_536);
    giveUp.abort();
    await failureOf(asked, "CANCELLED");
  });

  it("goes on while its caller is suspended", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const begun = Promise.withResolvers<void>();
      const resumed = Promise.withResolvers<void>();
      const { address } = await open(async () => {
        begun.resolve();
        await resumed.promise;
        return answer;
      });
      // Which answers nothing that asks for a sign of life.
      const socket = new WebSocket("ws://x/2/exec_in_sandbox", {
        createConnection: () => connect(address),
        autoPong: false,
      });
      await once(socket, "open");
      socket.send(JSON.stringify({ type: "start", request: exec }));
      await begun.promise;
      vi.advanceTimersByTime(10 * 60_000);
      resumed.resolve();
      const closed = once(socket, "close").then(() => ["closed"]);
      const [said] = (await Promise.race([once(socket, "message"), closed])) as [unknown];
      expect(String(said)).toBe(JSON.stringify({ event: "result", result: answer }));
    } finally {
      vi.useRealTimers();
    }
  });

  it("gets the error that is thrown there", async () => {
    const error = new GloveboxError("UNSUPPORTED", "No.", { suggestion: "Else.", context: { sandbox_id: "sbx-1" } });
    const { ask } = await open(() => Promise.reject(error));
    const failure = await failureOf(ask(execInSandboxContract, exec, operator), "UNSUPPORTED");
    expect(failure).toMatchObject({ message: "No.", suggestion: "Else.", context: { sandbox_id: "sbx-1" } });
  });

  it("is given up by an abort, before it is made and after", async () => {
    const begun = Promise.withResolvers<AbortSignal | undefined>();
    const { ask } = await open((_, { signal }) => {
      begun.resolve(signal);
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("given up"))));
    });
    await failureOf(ask(execInSandboxContract, exec, { ...operator, signal: AbortSignal.abort() }), "CANCELLED");
    const later = new AbortController();
    const asked = ask(execInSandboxContract, exec, { ...operator, signal: later.signal });
    const there = await begun.promise;
    later.abort();
    await expect(asked).rejects.toBeInstanceOf(GloveboxError);
    expect(there?.aborted).toBe(true);
  });

  it("ends with its process; a reader of a log gets the last entries first", async () => {
    const end = Promise.withResolvers<void>();
    const page = { container_id: "sbx-1", entries: [], next_offset: 7, is_over: false };
    const last = { ...page, is_over: true };
    const begun: string[] = [];
    const { server, ask } = await open(async (request, { signal }) => {
      begun.push("command" in request ? "exec" : "logs");
      if ("offset" in request) return last;
      if (!("command" in request)) return end.promise.then(() => page);
      await once(signal ?? new AbortController().signal, "abort");
      throw new Error("ended");
    });
    let program: string = "runs";
    ask(execInSandboxContract, exec, operator).then(
      () => (program = "answered"),
      (error: unknown) => (program = error instanceof GloveboxError ? error.errorType : "failed"),
    );
    const log = ask(readLogsContract, { id: "sbx-1", wait_seconds: 20 }, operator);
    await expect.poll(() => begun.toSorted(), { timeout: 10_000 }).toEqual(["exec", "logs"]);
    const ended = server.endCalls();
    await expect.poll(() => program, { timeout: 10_000 }).toBe("SANDBOX_LOST");
    await ended;
    await failureOf(ask(execInSandboxContract, exec, operator), "SANDBOX_LOST");
    const closed = server.close();
    end.resolve();
    expect(await log).toEqual(page);
    // It comes back for what follows.
    const back = ask(readLogsContract, { id: "sbx-1", offset: 7, wait_seconds: 20 }, operator);
    expect(await back.catch((error: unknown) => error)).toEqual(last);
    await closed;
    await failureOf(ask(readLogsContract, { id: "sbx-1" }, operator), "SANDBOX_LOST");
  });
});

describe("bad input at a peer server", () => {
  const start = { type: "start", request: exec };

  /** All that comes back for these bytes, until the server ends the connection. */
  async function said(address: string, bytes: string): Promise<string> {
    const socket = connect(address);
    socket.write(bytes);
    let text = "";
    for await (const piece of socket) text += String(piece);
    return text;
  }

  it.each([
    ["no HTTP", "\u0001\u0002{}\n\r\n\r\n", "400"],
    ["a plain request", "GET /2/exec_in_sandbox HTTP/1.1\r\nHost: x\r\n\r\n", "426"],
    ["a body", `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n${"x".repeat(100_000)}`, "426"],
    ["endless headers", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(100_000)}`, "431|ECONNRESET"],
    ["an operation of no version", upgradeOf("/1/exec_in_sandbox"), "404"],
    ["an operation that is none of others'", upgradeOf("/2/execute_code"), "404"],
    ["no WebSocket", "GET /2/exec_in_sandbox HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "400"],
  ])("%s is refused, and the server goes on", async (_, bytes, status) => {
    const { address, ask } = await open();
    expect(await said(address, bytes).catch((error: unknown) => String(error))).toMatch(new RegExp(status));
    expect(await ask(execInSandboxContract, exec, operator)).toEqual(answer);
  });

  it.each([
    ["a message before start", JSON.stringify({ type: "cancel" }), /^1008/],
    ["no JSON", "{", /^1008/],
    ["input before start", Buffer.alloc(10), /^1008/],
    ["a message beyond every command", "x".repeat(2 * 1024 * 1024 + 1), /^1009/],
    ["a request without a command", JSON.stringify({ ...start, request: { sandbox_id: "sbx-1" } }), /INVALID_REQUEST/],
    ["a field that is unknown", JSON.stringify({ ...start, request: { ...exec, owner: "0:0" } }), /INVALID_REQUEST/],
    ["null", JSON.stringify({ ...start, request: null }), /^1008/],
  ])("%s does nothing, and the server goes on", async (_, message, expected) => {
    let called = 0;
    const { address, ask } = await open(() => {
      called += 1;
      return Promise.resolve(answer);
    });
    const socket = new WebSocket("ws://x/2/exec_in_sandbox", { createConnection: () => connect(address) });
    const heard: string[] = [];
    socket.on("message", (data: Buffer) => heard.push(data.toString("utf8")));
    socket.on("error", () => undefined);
    await once(socket, "open");
    socket.send(message);
    const [code] = (await once(socket, "close")) as [number];
    expect(`${code} ${heard.join("")}`).toMatch(expected);
    expect(called).toBe(0);
    expect(await ask(execInSandboxContract, exec, operator)).toEqual(answer);
  });
});

function upgradeOf(url: string): string {
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
  return `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n${key}\r\n`;
}
