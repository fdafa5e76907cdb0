import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { lockedPolicy } from "../../../src/policy/network/egress-policy.ts";
import { DnsServer, type DnsRecord } from "../../helpers/dns-server.ts";
import { FarSide, makeCertificate } from "../../helpers/far-side.ts";
import { policyOf, ProxySubject } from "../../helpers/proxy-subject.ts";
import { until } from "../../helpers/until.ts";
import { UpstreamProxy } from "../../helpers/upstream-proxy.ts";
import { clientHello } from "./client-hello.ts";
import { RawServer } from "./raw-server.ts";

const publicAddress = { a: "93.184.216.34" };
const inside = { a: "10.1.2.3" };
const loopback = { a: "127.0.0.1" };
const zone: Readonly<Record<string, (asked: number) => readonly DnsRecord[]>> = {
  "web.test": () => [publicAddress],
  "tls.test": () => [publicAddress],
  "six.test": () => [{ aaaa: "2606:2800:220:1::1" }],
  "far.test": () => [{ a: "93.184.216.99" }],
  "several.test": () => [{ a: "93.184.216.99" }, publicAddress],
  "inside.test": () => [inside],
  "mapped.test": () => [{ aaaa: "::ffff:a01:203" }],
  "metadata.test": () => [{ a: "169.254.169.254" }],
  "near.test": () => [loopback],
  "near-in-ipv6.test": () => [{ aaaa: "::ffff:7f00:1" }],
  "near-too.test": () => [{ a: "127.0.0.2" }],
  "mixed.test": () => [inside, publicAddress, loopback],
  "rebind.test": (asked) => [asked === 0 ? publicAddress : inside],
  "secure.test": () => [publicAddress],
  // A range whose packets are dropped.
  "discard.test": () => [{ aaaa: "100::1" }],
};
const dns = await DnsServer.start((name, asked) => zone[name.replace(/^private\./, "")]?.(asked));
const credentials = "ann:hush-hush";
const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
const web = await RawServer.start((head, socket) => {
  if (!head.includes("/held")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell");
});
const registry = await FarSide.start((_, response) =>
  response.end(JSON.stringify({ dist: { tarball: "http://files.test/npm.tgz" } })),
);
const certificate = makeCertificate("localhost", "secure.test");
const folder = mkdtempSync(path.join(tmpdir(), "glovebox-upstream-"));
writeFileSync(path.join(folder, "ca.pem"), certificate.cert);
const secureRegistry = await FarSide.start(
  (_, response) => response.end(JSON.stringify({ dist: { tarball: "https://files.test/npm.tgz" } })),
  certificate,
);
/** Everything that can be reached beyond the proxy. */
const world = (authority: string): number | undefined =>
  new Map([
    ["93.184.216.34:80", web.port],
    ["93.184.216.34:443", web.port],
    ["[2606:2800:220:1::1]:80", web.port],
    ["10.1.2.3:80", web.port],
    ["unknown.test:80", web.port],
    ["web.test:80", web.port],
    ["93.184.216.34:4873", registry.port],
    ["93.184.216.34:4874", secureRegistry.port],
  ]).get(authority);
const upstream = await UpstreamProxy.start({ world, credentials });
const url = `http://${credentials}@127.0.0.1:${upstream.port}`;
const get = (at: string, target = "/"): string =>
  `GET http://${at}${target} HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: Basic bWluZQ==\r\nX-Mine: 1\r\nConnection: close\r\n\r\n`;

const patient = { withinMs: 60_000 };

afterEach(() => {
  upstream.forget();
  web.forget();
});
afterAll(() => {
  for (const each of [upstream, web]) each[Symbol.dispose]();
  for (const each of [dns, registry, secureRegistry]) each.close();
  rmSync(folder, { recursive: true });
});

describe("with an upstream proxy, a program", () => {
  let proxy: ProxySubject;
  beforeAll(async () => (proxy = await ProxySubject.start({ dnsServer: dns.address, upstream: { HTTPS_PROXY: url } })));
  afterAll(() => proxy[Symbol.asyncDispose]());

  it("reaches an allowed name by the address that was checked, under its own name, and says nothing to the proxy", async () => {
    const { client } = await proxy.open("private.web.test:80", "six.test:80");
    expect((await client.ask(get("private.web.test:80", "/page"), patient)).text).toMatch(/^HTTP\/1\.1 200 OK.*well$/s);
    expect((await client.ask(get("six.test:80"), patient)).text).toMatch(/well$/);
    const expected = ["93.184.216.34:80", "[2606:2800:220:1::1]:80"].map((authority) => ({
      authority,
      fields: ["Host", authority, "Proxy-Authorization", authorization],
    }));
    expect(upstream.asked).toEqual(expected);
    const received = web.received.map(String);
    expect(received[0]).toMatch(/^GET \/page HTTP\/1\.1\r\nHost: private\.web\.test\r\nX-Mine: 1\r\n/);
    expect(received.join()).not.toMatch(/authorization/i);
  });

  it("speaks TLS to the far side itself, whose name it must give", async () => {
    const { client, denials } = await proxy.open("tls.test");
    const connect = "CONNECT tls.test:443 HTTP/1.1\r\nHost: x\r\n\r\n";
    const hello = clientHello("tls.test");
    void client.ask([connect, hello], { withinMs: 60_000 });
    await until(() => web.received.some((bytes) => bytes.equals(hello)));
    expect(upstream.asked.map(({ authority }) => authority)).toEqual(["93.184.216.34:443"]);
    const other = await client.ask([connect, clientHello("other.test")], patient);
    expect(other.bytes.subarray(-7)).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 112]));
    await proxy.process.flush();
    expect(denials).toMatchObject([{ rule: "server_name" }]);
    await client.close();
  });

  it.each(["inside", "mapped", "metadata", "near", "near-in-ipv6"])(
    "is refused private.%s.test before the proxy hears of it",
    async (name) => {
      const { client, denials } = await proxy.open(`private.${name}.test:80`);
      expect((await client.ask(get(`private.${name}.test:80`), patient)).text).toMatch(/^HTTP\/1\.1 403 /);
      await proxy.process.flush();
      expect(denials).toMatchObject([{ rule: "private_address" }]);
      expect(upstream.connections).toBe(0);
    },
  );

  it("cannot have the proxy look a name up again that has changed meanwhile", async () => {
    const { client, denials } = await proxy.open("private.rebind.test:80", "private.mixed.test:80");
    expect((await client.ask(get("private.rebind.test:80"), patient)).text).toMatch(/well$/);
    expect((await client.ask(get("private.rebind.test:80"), patient)).text).toMatch(/^HTTP\/1\.1 403 /);
    expect((await client.ask(get("private.mixed.test:80"), patient)).text).toMatch(/well$/);
    expect(new Set(upstream.asked.map(({ authority }) => authority))).toEqual(new Set(["93.184.216.34:80"]));
    await proxy.process.flush();
    expect(denials).toMatchObject([{ rule: "private_address" }]);
  });

  it("cannot reach the proxy itself, by any name, route or policy", async () => {
    const names = ["near.test", "near-in-ipv6.test", "near-too.test"].map((name) => `${name}:${upstream.port}`);
    // The operator trusts these hosts; the upstream proxy is one of them, but that does not make it reachable.
    const { client, denials } = await proxy.open(...names);
    for (const name of names) {
      expect((await client.ask(get(name), patient)).text).toMatch(
        /^HTTP\/1\.1 403 .*is the proxy that Glovebox itself uses/s,
      );
      const tunnel = await client.ask(
        [`CONNECT ${name} HTTP/1.1\r\nHost: x\r\n\r\n`, "GET / HTTP/1.1\r\n\r\n"],
        patient,
      );
      expect(tunnel.text).toMatch(/^HTTP\/1\.1 403 /);
    }
    await proxy.process.flush();
    expect(denials).toHaveLength(2 * names.length);
    expect(upstream.connections).toBe(0);
  });

  it("reaches a trusted host of this machine directly, at another port than the proxy's", async () => {
    const { client } = await proxy.open(`near.test:${web.port}`);
    expect((await client.ask(get(`near.test:${web.port}`), patient)).text).toMatch(/well$/);
    expect(upstream.connections).toBe(0);
  });

  it.each([
    ["a line break in a target", "GET http://web.test:80\r\nX-Evil: 1\r\n/ HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an encoded line break", "CONNECT web.test:80%0d%0aX-Evil:1 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a bare carriage return", "CONNECT web.test:80\rX-Evil: 1 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a bare line feed", "CONNECT web.test:80\nX-Evil: 1 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a tab and another target", "CONNECT web.test:80\tevil.test:80 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an address", "CONNECT 93.184.216.34:80 HTTP/1.1\r\nHost: web.test\r\n\r\n"],
    ["a user of its own", "GET http://ann:other@web.test:80/ HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["the proxy's address as the path", `GET http://web.test:80@127.0.0.1:${upstream.port}/ HTTP/1.1\r\n\r\n`],
  ])("gets nothing into CONNECT by %s", async (_, request) => {
    const { client } = await proxy.open("web.test:80");
    expect((await client.ask(request, { withinMs: 3_000 })).text).toMatch(/^(HTTP\/1\.1 40[03] .*)?$/s);
    expect(upstream.connections).toBe(0);
  });

  it("loses a tunnel that a new policy does not allow: by its name, and by the far side's address", async () => {
    const { client, name } = await proxy.open("inside.test:80", "web.test:80");
    const trusted = client.ask(get("inside.test:80", "/held"), { withinMs: 60_000 });
    await until(() => web.connections === 1);
    const held = client.ask(get("web.test:80", "/held"), { withinMs: 60_000 });
    await until(() => web.connections === 2);
    expect(upstream.asked.map(({ authority }) => authority)).toEqual(["10.1.2.3:80", "93.184.216.34:80"]);
    await proxy.process.changePolicy(name, { ...policyOf("inside.test:80", "web.test:80"), trusted: [] });
    expect((await trusted).end).not.toBe("late");
    await proxy.process.changePolicy(name, lockedPolicy);
    expect((await held).end).not.toBe("late");
  });

  it("is told when the far side is unreachable for the proxy, and the next address is tried", async () => {
    const { client } = await proxy.open("far.test:80", "several.test:80");
    const answer = await client.ask(get("far.test:80"), patient);
    expect(answer.text).toMatch(/^HTTP\/1\.1 502 .*far\.test:80 could not be reached \(the upstream proxy could not/s);
    expect((await client.ask(get("several.test:80"), patient)).text).toMatch(/well$/);
  });

  it("is told what to set when the name cannot be looked up here, and the proxy is not asked", async () => {
    const { client } = await proxy.open("unknown.test:80");
    expect((await client.ask(get("unknown.test:80"), patient)).text).toMatch(
      /^HTTP\/1\.1 502 .*network\.upstream_resolves/s,
    );
    expect(upstream.connections).toBe(0);
  });

  it("is given the hosts of registries that were asked through the proxy", async () => {
    const asked = { kind: "npm", url: "http://web.test:4873/" } as const;
    expect(await proxy.process.fileHosts(asked)).toEqual([{ name: "files.test", port: 80 }]);
    expect(upstream.asked.map(({ authority }) => authority)).toEqual(["93.184.216.34:4873"]);
  });
});

describe("NO_PROXY", () => {
  it("leads names, ports and ranges past the proxy, under the same checks", async () => {
    await using proxy = await ProxySubject.start({
      dnsServer: dns.address,
      upstream: { HTTPS_PROXY: url, NO_PROXY: "web.test:81 private.inside.test, 100::/64" },
    });
    const { client } = await proxy.open("private.inside.test:80", "discard.test:80", "web.test:80");
    expect((await client.ask(get("private.inside.test:80"), patient)).text).toMatch(/^HTTP\/1\.1 403 /);
    const nowhere = await client.ask(get("discard.test:80"), { withinMs: 30_000 });
    expect(nowhere.text).toMatch(/^HTTP\/1\.1 502 .*could not be reached \(E/s);
    expect(upstream.connections).toBe(0);
    expect((await client.ask(get("web.test:80"), patient)).text).toMatch(/well$/);
    expect(upstream.asked.map(({ authority }) => authority)).toEqual(["93.184.216.34:80"]);
  });
});

describe("a proxy that speaks TLS with a private certificate", () => {
  it("serves where its authority is known, and else gets no password", async () => {
    using secure = await UpstreamProxy.start({ world, credentials, tls: certificate });
    const own = { HTTPS_PROXY: `https://${credentials}@localhost:${secure.port}` };
    const extra = { NODE_EXTRA_CA_CERTS: path.join(folder, "ca.pem") };
    await using knows = await ProxySubject.start({ dnsServer: dns.address, upstream: { ...own, ...extra } });
    const { client } = await knows.open("web.test:80");
    expect((await client.ask(get("web.test:80"), patient)).text).toMatch(/well$/);
    const asked = { kind: "npm", url: "https://secure.test:4874/" } as const;
    expect(await knows.process.fileHosts(asked)).toEqual([{ name: "files.test", port: 443 }]);
    await using doubts = await ProxySubject.start({ dnsServer: dns.address, upstream: own });
    secure.forget();
    const other = await doubts.open("web.test:80");
    expect((await other.client.ask(get("web.test:80"), patient)).text).toMatch(
      /^HTTP\/1\.1 502 .*NODE_EXTRA_CA_CERTS/s,
    );
    expect(secure.asked).toEqual([]);
  });
});

describe("a proxy that looks names up itself", () => {
  let proxy: ProxySubject;
  beforeAll(async () => {
    const options = { dnsServer: dns.address, upstream: { HTTPS_PROXY: url, NO_PROXY: "direct.test" } };
    proxy = await ProxySubject.start({ ...options, upstreamResolves: true });
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  it("is asked for a name only when it cannot be looked up here", async () => {
    const { client } = await proxy.open("unknown.test:80", "web.test:80");
    expect((await client.ask(get("unknown.test:80"), patient)).text).toMatch(/well$/);
    expect((await client.ask(get("web.test:80"), patient)).text).toMatch(/well$/);
    expect(upstream.asked.map(({ authority }) => authority)).toEqual(["unknown.test:80", "93.184.216.34:80"]);
  });

  it.each(["private.inside.test", "private.metadata.test", "metadata.google.internal", "a.localhost", "printer.local"])(
    "never hears of %s",
    async (name) => {
      const { client, denials } = await proxy.open(name);
      expect((await client.ask(get(`${name}:80`), patient)).text).toMatch(/^HTTP\/1\.1 403 /);
      await proxy.process.flush();
      expect(denials).toMatchObject([{ rule: "private_address" }]);
      expect(upstream.connections).toBe(0);
    },
  );

  it("is not asked for names that NO_PROXY keeps from it", async () => {
    const { client } = await proxy.open("direct.test:80");
    expect((await client.ask(get("direct.test:80"), patient)).text).toMatch(/^HTTP\/1\.1 502 /);
    expect(upstream.connections).toBe(0);
  });
});
