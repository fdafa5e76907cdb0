import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeFrame, frameTypes } from "../../../src/base/mux-stream.ts";
import { Traffic, type EgressConnection } from "../../../src/egress/egress-connection.ts";
import { EgressProxies } from "../../../src/egress/egress-proxies.ts";
import { DnsServer } from "../../helpers/dns-server.ts";
import type { Answer } from "../../helpers/proxy-client.ts";
import { policyOf, proxyOptions, proxyPids, ProxySubject } from "../../helpers/proxy-subject.ts";
import { until } from "../../helpers/until.ts";
import { RawServer, sendPieces } from "./raw-server.ts";

const never = new Promise<undefined>(() => undefined);
const dns = await DnsServer.start((name) => (name === "silent.test" ? never : [{ a: "127.0.0.1" }]));
const web = await RawServer.start((head, socket) => {
  if (head.includes("/deaf")) return void socket.pause();
  if (!head.includes("/much")) return sendPieces(socket, ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell"]);
  socket.write("HTTP/1.1 200 OK\r\n\r\n");
  const piece = Buffer.alloc(1024 * 1024, "x");
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece)) void 0;
  };
  socket.on("drain", more);
  more();
});
const at = `web.test:${web.port}`;
const get = (path: string): string => `GET http://${at}/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
afterAll(() => {
  dns.close();
  web[Symbol.dispose]();
});

describe("the egress proxy's process", () => {
  let proxy: ProxySubject;
  beforeAll(async () => (proxy = await ProxySubject.start({ dnsServer: dns.address })));
  afterAll(() => proxy[Symbol.asyncDispose]());
  const fileOf = (name: string): string => readFileSync(`/proc/${proxy.pid}/${name}`, "utf8");

  it.runIf(process.getuid?.() === 0)("is nobody's", () => {
    const status = fileOf("status");
    expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Groups:\t\s*$/m);
  });

  it("has no rights and can get none", () => {
    expect(fileOf("status")).toMatch(/^CapEff:\t0+$/m);
    expect(fileOf("status")).toMatch(/^NoNewPrivs:\t1$/m);
  });

  it("cannot take memory and descriptors without end, nor write a file", () => {
    const limits = fileOf("limits");
    expect(limits).toMatch(/^Max data size +1610612736 +1610612736 /m);
    expect(limits).toMatch(/^Max open files +4096 +4096 /m);
    expect(limits).toMatch(/^Max file size +0 +0 /m);
    expect(limits).toMatch(/^Max core file size +0 +0 /m);
  });

  it("learns nothing about its host's environment", () => {
    const names = fileOf("environ")
      .split("\0")
      .map((line) => line.split("=")[0])
      .filter((name) => name !== "");
    expect(names.filter((name) => !/^(NODE_CHANNEL_|PWD$|OLDPWD$|_$|SHLVL$)/.test(name ?? ""))).toEqual([]);
  });

  it("has none of the descriptors that somebody left open in its server", () => {
    const script = fileURLToPath(new URL("./descriptors-scene.ts", import.meta.url));
    const left = 'exec 5</etc/hostname 20</etc/passwd 50</etc/passwd; exec "$@"';
    const printed = execFileSync("bash", ["-c", left, "bash", process.execPath, script], { encoding: "utf8" });
    const descriptors = JSON.parse(printed) as string[];
    expect(descriptors.length).toBeGreaterThan(3);
    expect(descriptors.filter((name) => name.startsWith("/etc/"))).toEqual([]);
  });

  it("cannot be kept from its server's channels by another user who connects and stays silent", async () => {
    const inodes = readdirSync(`/proc/${proxy.pid}/fd`).map((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${proxy.pid}/fd/${name}`))?.[1];
      } catch {
        return undefined;
      }
    });
    const lines = readFileSync("/proc/net/unix", "utf8").split("\n");
    const own = lines.find((line) => line.includes("@glovebox-egress") && inodes.includes(line.trim().split(/\s+/)[6]));
    const path = `\0${own?.split("@")[1]?.trim()}`;
    const strangers = await Promise.all(
      Array.from({ length: 400 }, async () => {
        const socket = connect({ path }).on("error", () => undefined);
        await once(socket, "connect");
        return socket;
      }),
    );
    const { client } = await proxy.open(at);
    expect((await client.ask(get("well"))).text).toMatch(/well$/);
    expect(readdirSync(`/proc/${proxy.pid}/fd`).length - inodes.length).toBeLessThan(300);
    for (const socket of strangers) socket.destroy();
  });
});

describe("one sandbox", () => {
  let proxy: ProxySubject;
  beforeAll(async () => (proxy = await ProxySubject.start({ dnsServer: dns.address })));
  afterAll(() => proxy[Symbol.asyncDispose]());
  const neighbourHears = async (): Promise<string> => {
    const { client } = await proxy.open(at);
    const { text } = await client.ask(get("well"), { withinMs: 20_000 });
    await client.close();
    return text;
  };

  it("that never reads what it asked for fills no memory", async () => {
    const socket = await proxy.process.openChannel("never-reads", policyOf(at), {
      onDenied: () => undefined,
    });
    const credit = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
    for (let connection = 1; connection <= 100; connection++) {
      socket.write(encodeFrame(frameTypes.open, connection));
      socket.write(encodeFrame(frameTypes.credit, connection, credit));
      socket.write(encodeFrame(frameTypes.data, connection, Buffer.from(get("much"))));
    }
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await neighbourHears()).toMatch(/well$/);
    expect(proxy.residentBytes).toBeLessThan(400 * 1024 * 1024);
    socket.destroy();
  });

  it("that sends bodies to hosts that do not read fills no memory", async () => {
    const { client } = await proxy.open(at);
    const head = `POST http://${at}/deaf HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n`;
    const piece = Buffer.alloc(32_000, "x");
    for (let count = 0; count < 100; count++) {
      void client.ask([head, ...Array.from({ length: 7 }, () => piece)]);
    }
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await neighbourHears()).toMatch(/well$/);
    expect(proxy.residentBytes).toBeLessThan(400 * 1024 * 1024);
    await client.close();
  });

  it("that opens more connections than it may loses its channel, and no other does", async () => {
    const { client } = await proxy.open(at);
    for (let count = 0; count < 200; count++) client.connect();
    await until(() => !client.isOpen);
    expect(await neighbourHears()).toMatch(/well$/);
  });

  it("that asks and gives up again and again has few connections to far sides in the making", async () => {
    const { client } = await proxy.open("silent.test");
    const ask = (withinMs: number): Promise<Answer> =>
      client.ask("GET http://silent.test/ HTTP/1.1\r\nHost: x\r\n\r\n", { withinMs });
    await Promise.all(Array.from({ length: 100 }, () => ask(500)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(2_000)));
    expect(answers.filter(({ text }) => text.includes("More than 128 connections")).length).toBe(32);
    expect(await neighbourHears()).toMatch(/well$/);
    await client.close();
  });
});

describe("the egress proxies of a server", () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: "info" },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const proxies = new EgressProxies({
    ...proxyOptions(dns.address),
    idleMs: 2_000,
    logger,
    refusalLevel: "info",
    refusals: { happened: () => undefined, ended: () => undefined },
    traffic: new Traffic(),
  });
  afterAll(() => proxies.close());
  const open = (principal: string): Promise<EgressConnection> =>
    proxies.of(principal).connect("sandbox", policyOf(at), (text) => text);
  /** Opens a connection for the principal; returns the process that this started, or 0 if there already was one. */
  const opened = async (
    principal: string,
  ): Promise<{ readonly connection: EgressConnection; readonly pid: number }> => {
    const before = proxyPids();
    const connection = await open(principal);
    return { connection, pid: proxyPids().find((pid) => !before.includes(pid)) ?? 0 };
  };

  it("are one for each principal; the end of one is counted, and no other's matter", { timeout: 60_000 }, async () => {
    const [one, other, again] = [await opened("one"), await opened("other"), await opened("one")];
    expect([one.pid > 0, other.pid > 0, again.pid]).toEqual([true, true, 0]);
    process.kill(one.pid, "SIGSEGV");
    await Promise.all([one.connection.lost, again.connection.lost]);
    expect(other.connection.isLost).toBe(false);
    expect(lines).toContainEqual(
      expect.objectContaining({ failures: 1, msg: expect.stringContaining("egress proxy failed") }),
    );
    const next = await opened("one");
    expect(next.pid).toBeGreaterThan(0);
    expect([next.connection.isLost, other.connection.isLost]).toEqual([false, false]);
    for (const { connection } of [next, other]) connection.close();
  });

  it("that hang are ended, and their runs informed", { timeout: 90_000 }, async () => {
    const { connection, pid } = await opened("hanging");
    process.kill(pid, "SIGSTOP");
    await connection.lost;
    expect(connection.isLost).toBe(true);
    expect(lines.map(({ msg }) => msg)).toContain("egress proxy does not answer and is ended");
    await until(() => !proxyPids().includes(pid));
  });

  it("that nobody uses are ended, without being counted as failed", { timeout: 60_000 }, async () => {
    const { connection, pid } = await opened("idle");
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(proxyPids()).toContain(pid);
    lines.length = 0;
    connection.close();
    await until(() => !proxyPids().includes(pid));
    expect(lines).toEqual([]);
  });
});
