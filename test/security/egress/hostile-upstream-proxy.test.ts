import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DnsServer } from "../../helpers/dns-server.ts";
import { ProxySubject, type OpenedChannel } from "../../helpers/proxy-subject.ts";
import { RawServer, sendPieces } from "./raw-server.ts";

interface Row {
  readonly name: string;
  readonly pieces: readonly string[];
  readonly staysOpen?: true;
  /** What the program reads. */
  readonly says: RegExp;
}

const secret = "hush-hush";
const encoded = Buffer.from(`ann:${secret}`).toString("base64");
const well = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell";
const refused: readonly Row[] = [
  {
    name: "407 that repeats the password everywhere",
    pieces: [
      `HTTP/1.1 407 ${encoded} ${secret}\r\nProxy-Authenticate: ${encoded}\r\nX-${secret}: 1\r\n\r\n${secret} ${encoded}`,
    ],
    says: /demands another user or password \(407\): set them in HTTPS_PROXY/,
  },
  {
    name: "401, as some do",
    pieces: ["HTTP/1.1 401 Unauthorized\r\n\r\n"],
    says: /demands another user or password \(401\): set them in HTTPS_PROXY/,
  },
  {
    name: "403",
    pieces: ["HTTP/1.1 403 No\r\n\r\n"],
    says: /refuses the connection \(403\).*network\.upstream_resolves/,
  },
  {
    name: "302 to elsewhere",
    pieces: ["HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n"],
    says: /refuses the connection \(302\)/,
  },
  {
    name: "101",
    pieces: ["HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    says: /upstream proxy refuses the connection \(101\)/,
  },
  {
    name: "interim answers",
    pieces: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"],
    says: /refuses the connection \(100\)/,
  },
  {
    name: "another protocol",
    pieces: ["SSH-2.0-OpenSSH_9.9\r\n\r\n"],
    staysOpen: true,
    says: /not HTTP: check that HTTPS_PROXY names an HTTP proxy/,
  },
  { name: "a status that is none", pieces: ["HTTP/1.1 abc OK\r\n\r\n"], staysOpen: true, says: /not HTTP/ },
  {
    name: "a field without an end",
    pieces: [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}`],
    staysOpen: true,
    says: /head without an end/,
  },
  {
    name: "fields without an end",
    pieces: ["HTTP/1.1 200 OK\r\n", "X: y\r\n".repeat(20_000)],
    staysOpen: true,
    says: /head without an end/,
  },
  {
    name: "a reason without an end",
    pieces: [`HTTP/1.1 200 ${"x".repeat(100_000)}`],
    staysOpen: true,
    says: /head without an end/,
  },
  { name: "nothing and an end", pieces: [], says: /closed the connection instead of answering/ },
  { name: "half a head and an end", pieces: ["HTTP/1.1 200 OK\r\nX-Half: "], says: /closed the connection|not HTTP/ },
  {
    name: "200 with an answer of its own behind it",
    pieces: [`HTTP/1.1 200 OK\r\n\r\n${well}`],
    says: /more than the head of an answer/,
  },
];
const taken: readonly Omit<Row, "says">[] = [
  { name: "HTTP/1.0", pieces: ["HTTP/1.0 200 Connection established\r\n\r\n"] },
  { name: "a length that counts for nothing", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"] },
  { name: "a coding that counts for nothing", pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"] },
  { name: "its head in pieces", pieces: "HTTP/1.1 200 OK\r\n\r\n".split("") },
];
const rows = [...refused, ...taken];
const firstPort = 20_000;
const portOf = (name: string): number => firstPort + rows.findIndex((row) => row.name === name);
const silentPort = firstPort + rows.length;

const dns = await DnsServer.start(() => [{ a: "93.184.216.34" }]);
const hostile = await RawServer.start((head, socket) => {
  const port = Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1]);
  if (port === silentPort) return void socket.write("HTTP/1.1 200 OK\r\n\r\n");
  const row = rows[port - firstPort];
  if (row === undefined) return void socket.destroy();
  const isTaken = taken.some(({ name }) => name === row.name);
  sendPieces(socket, row.pieces, isTaken || "staysOpen" in row);
  if (isTaken) socket.once("data", () => void socket.end(well));
});
const logged: string[] = [];
const logger = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
const at = (port: number): string => `web.test:${port}`;
const get = (port: number): string => `GET http://${at(port)}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

let proxy: ProxySubject;
let channel: OpenedChannel;
beforeAll(async () => {
  const upstream = { HTTPS_PROXY: `http://ann:${secret}@127.0.0.1:${hostile.port}` };
  proxy = await ProxySubject.start({ dnsServer: dns.address, upstream, logger });
  channel = await proxy.open(...rows.map(({ name }) => at(portOf(name))), at(silentPort));
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  hostile[Symbol.dispose]();
  dns.close();
});

describe("an upstream proxy that answers with", () => {
  it.each(refused)("$name gives the program a reason and nothing else", async ({ name, says }) => {
    const { text, end } = await channel.client.ask(get(portOf(name)), { withinMs: 30_000 });
    expect(end).toBe("end");
    expect(text).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    expect(text).toMatch(says);
    expect(text).not.toMatch(/well|hush/);
    expect(text).not.toContain(encoded);
  });

  it.each(taken)("$name opens a tunnel", async ({ name }) => {
    expect((await channel.client.ask(get(portOf(name)), { withinMs: 30_000 })).text).toMatch(/ 200 OK.*well$/s);
  });

  it("200 and then nothing holds up that connection alone", async () => {
    const silent = Array.from({ length: 20 }, () => channel.client.ask(get(silentPort), { withinMs: 60_000 }));
    expect((await channel.client.ask(get(portOf("HTTP/1.0")), { withinMs: 30_000 })).text).toMatch(/well$/);
    const other = await proxy.open(at(portOf("HTTP/1.0")));
    expect((await other.client.ask(get(portOf("HTTP/1.0")), { withinMs: 30_000 })).text).toMatch(/well$/);
    await channel.client.close();
    await Promise.all(silent);
    expect(proxy.hasEnded).toBe(false);
  });

  it("none of these puts a password into the log, where the operator reads what to set", () => {
    expect(logged.join("")).toMatch(/"reason":"demands another user or password \(407\): set them in HTTPS_PROXY/);
    expect(logged.join("")).not.toContain(secret);
    expect(logged.join("")).not.toContain(encoded);
    expect(channel.denials).toEqual([]);
  });
});
