import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { DialMux } from "../../src/base/mux/dial-mux.ts";
import { findBunBinary } from "../../src/engines/local/interpreters/bun-binary.ts";

const folder = fileURLToPath(new URL("../../images/forwarders/", import.meta.url));
const cleanups: (() => unknown)[] = [];

interface Forwarding {
  readonly mux: DialMux;
  readonly child: ChildProcessWithoutNullStreams;
}

/** The forwarder on this machine, where it behaves as inside a sandbox. */
async function forward(command: string, file: string): Promise<Forwarding> {
  const child = spawn(command, [`${folder}${file}`, "0", ""]);
  cleanups.push(() => child.kill("SIGKILL"));
  const mux = new DialMux((frame, sent) => void child.stdin.write(frame, () => sent()));
  child.stdin.write(Buffer.alloc(4));
  child.stdout.on("data", (bytes: Buffer) => mux.receive(bytes));
  child.once("close", () => mux.close());
  await mux.ready;
  expect(mux.isClosed).toBe(false);
  return { mux, child };
}

async function listen(serve: (stream: Duplex) => void, host = "127.0.0.1"): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    serve(socket);
  });
  server.listen(0, host);
  await once(server, "listening");
  cleanups.push(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

async function dial(mux: DialMux, port: number): Promise<Duplex> {
  const stream = await mux.dial(port);
  if (typeof stream === "string") throw new Error(stream);
  return stream;
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const interpreters = [
  ["python3", "python3", "forwarder.py"],
  ["node", process.execPath, "forwarder.cjs"],
  ["bun", findBunBinary(process.arch) ?? "bun", "forwarder.cjs"],
] as const;

describe.each(interpreters)("the forwarder under %s connects to a port", (_, command, file) => {
  it("and carries many connections both ways, each end closed separately", async () => {
    const { port } = await listen((stream) => stream.pipe(stream));
    const { mux } = await forward(command, file);
    const sent = Array.from({ length: 40 }, (__, index) => randomBytes(300_000 + index));
    const received = await Promise.all(
      sent.map(async (bytes) => {
        const stream = await dial(mux, port);
        stream.end(bytes);
        return buffer(stream);
      }),
    );
    expect(received.map(hash)).toEqual(sent.map(hash));
    expect(mux.size).toBe(0);
  });

  it("on ::1 too", async () => {
    const { port } = await listen((stream) => stream.end("six"), "::1");
    const { mux } = await forward(command, file);
    expect((await buffer(await dial(mux, port))).toString()).toBe("six");
  });

  it("and says when nothing listens", async () => {
    const { server, port } = await listen(() => undefined);
    server.close();
    const { mux } = await forward(command, file);
    expect(await Promise.all([mux.dial(port), mux.dial(port), mux.dial(port)])).toEqual([
      "refused",
      "refused",
      "refused",
    ]);
  });

  it("and lets a slow reader hold up only its own server", async () => {
    const flood = Buffer.alloc(32 * 1024 * 1024, 7);
    let written = false;
    const { port } = await listen((stream) => stream.end(flood, () => (written = true)));
    const echo = await listen((stream) => stream.pipe(stream));
    const { mux } = await forward(command, file);
    const slow = await dial(mux, port);
    const other = await dial(mux, echo.port);
    other.end("meanwhile");
    expect((await buffer(other)).toString()).toBe("meanwhile");
    await sleep(300);
    expect(written).toBe(false);
    expect(hash(await buffer(slow))).toBe(hash(flood));
  });

  it("and passes a reset on, both ways", async () => {
    const accepted = Promise.withResolvers<Duplex>();
    const { port } = await listen((stream) => accepted.resolve(stream));
    const { mux } = await forward(command, file);
    const stream = await dial(mux, port);
    const far = await accepted.promise;
    const closed = new Promise((resolve) => void far.once("close", resolve));
    stream.destroy();
    await closed;
    const breaking = await listen((socket) => (socket as Duplex & { resetAndDestroy(): void }).resetAndDestroy());
    const broken = await mux.dial(breaking.port);
    // The reset may have arrived with the answer.
    if (typeof broken !== "string") await finished(broken.resume()).catch(() => undefined);
    expect(mux.size).toBe(0);
  });

  it("and ends with its standard input", async () => {
    const { port } = await listen((stream) => stream.pipe(stream));
    const { mux, child } = await forward(command, file);
    const stream = await dial(mux, port);
    const over = new Promise((resolve) => void stream.once("close", resolve));
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
    await over;
  });
});
