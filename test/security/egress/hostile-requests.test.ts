import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DnsServer } from "../../helpers/dns-server.ts";
import { ProxySubject, type OpenedChannel } from "../../helpers/proxy-subject.ts";
import { clientHello } from "./client-hello.ts";
import { hostileRequests, type HostileRequest } from "./hostile-requests.ts";
import { RawServer, sendPieces } from "./raw-server.ts";
import { readStrictly } from "./strict-http.ts";

const dns = await DnsServer.start(() => [{ a: "127.0.0.1" }]);
const server = await RawServer.start((head, socket) => {
  if (!head.includes("/held")) sendPieces(socket, ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell"]);
});
const at = `web.test:${server.port}`;
const rows = Object.entries(hostileRequests(at)).map(([name, request]) => ({ name, ...request }));
const rowsThatBecome = (end: HostileRequest["becomes"]): typeof rows => rows.filter(({ becomes }) => becomes === end);

let proxy: ProxySubject;
let channel: OpenedChannel;
beforeAll(async () => {
  proxy = await ProxySubject.start({ dnsServer: dns.address });
  channel = await proxy.open(at);
});
afterEach(() => server.forget());
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  server[Symbol.dispose]();
  dns.close();
});

/** What is wrong with what the host received, unless it is exactly the intended request. */
function faultOf(received: Buffer): string | null {
  const read = readStrictly(received);
  if (typeof read === "string") return read;
  const { startLine, fields, rest } = read;
  const hosts = fields.filter(([name]) => name.toLowerCase() === "host").map(([, value]) => value);
  const hop = fields
    .map(([name]) => name.toLowerCase())
    .filter((name) => /^(te|trailer|upgrade|expect|http2-.*|proxy-.*)$/.test(name));
  if (rest.length > 0) return `a second request: ${rest.toString("latin1")}`;
  if (hosts.join() !== at) return `other hosts: ${hosts.join()}`;
  if (hop.length > 0) return `what was for the proxy: ${hop.join()}`;
  return /^[A-Z]+ [/*]\S* HTTP\/1\.1$/.test(startLine) ? null : `another first line: ${startLine}`;
}

describe("a program that sends", () => {
  it.each(rowsThatBecome("passed"))("$name gets at most one well-formed request through", async ({ send }) => {
    const answer = await channel.client.ask(send, { withinMs: 4_000, until: (text) => text.endsWith("well") });
    expect(answer.text).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 OK/);
    expect(server.received.map(faultOf)).toEqual([null]);
  });

  it.each(rowsThatBecome("refused"))("$name gets at most one well-formed request through", async (row) => {
    const answer = await channel.client.ask(row.send, { withinMs: 2_000 });
    expect(answer.end).not.toBe("channel");
    expect(server.received.map((bytes) => bytes.toString("latin1"))).toEqual([]);
    expect(answer.text.replace(/^$/, "HTTP/1.1 400 Bad")).toMatch(/^HTTP\/1\.1 (400 Bad|403 Forb|417 Exp)/);
    expect(answer.text).toContain(row.says ?? "");
    expect(proxy.hasEnded).toBe(false);
  });

  it("a request in a tunnel that names the length for the connection only gets nothing through", async () => {
    const within =
      "GET /one HTTP/1.1\r\nHost: x\r\nConnection: content-length\r\nContent-Length: 40\r\n\r\nGET /two HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    const answer = await channel.client.ask([`CONNECT ${at} HTTP/1.1\r\nHost: x\r\n\r\n`, within]);
    expect(answer.text).toMatch(/ 200 Connection Established.*400 Bad Request.*names content-length/s);
    expect(Buffer.concat(server.received).toString()).toBe("");
  });

  it("CONNECT within a tunnel is refused", async () => {
    const connect = `CONNECT ${at} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const { client, denials } = await proxy.open(at);
    const answer = await client.ask([connect, connect, "GET / HTTP/1.1\r\n\r\n"]);
    await proxy.process.flush();
    expect(answer.text).toMatch(/ 200 Connection Established.*400 Bad Request/s);
    expect(denials.at(-1)).toMatchObject({
      rule: "protocol",
      reason: expect.stringContaining("within a tunnel"),
    });
    expect(Buffer.concat(server.received).toString()).toBe("");
  });

  it("hundreds of requests at once gets them one after another, or loses its connection", async () => {
    const get = (path: string): string => `GET http://${at}/${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const few = await channel.client.ask([get("1") + get("2") + get("3")], {
      until: (text) => text.split("well").length === 4,
    });
    expect(few.text.split("well")).toHaveLength(4);
    server.forget();
    await channel.client.ask([get("held").repeat(6)], { withinMs: 1_000 });
    expect(server.connections).toBe(1);
    server.forget();
    await channel.client.ask([get("x").repeat(2_000)], { withinMs: 2_000 });
    expect(server.connections).toBeLessThanOrEqual(1);
  });

  it("a TLS hello that names a NUL is refused without it being shown", async () => {
    const { client, denials } = await proxy.open(at);
    const tls = await client.ask([`CONNECT ${at} HTTP/1.1\r\nHost: x\r\n\r\n`, clientHello(`web.test\0.evil.test`)]);
    expect(tls.bytes.subarray(-7)).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 112]));
    const escape = await client.ask([`CONNECT ${at} HTTP/1.1\r\nHost: x\r\n\r\n`, clientHello("\u001b[2Jweb.test")]);
    expect(escape.bytes.subarray(-7)).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 112]));
    await proxy.process.flush();
    expect(denials).toHaveLength(2);
    for (const denial of denials) {
      expect(denial).toMatchObject({
        rule: "server_name",
        reason: expect.stringContaining("something that is no name"),
      });
    }
    expect(Buffer.concat(server.received).toString()).toBe("");
  });
});
