import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DnsServer } from "../helpers/dns-server.ts";
import { FarSide, makeCertificate } from "../helpers/far-side.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { skipOrFail } from "../helpers/require.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";
import { UpstreamProxy } from "../helpers/upstream-proxy.ts";
import { createGlovebox } from "../helpers/wire-glovebox.ts";

const credentials = "ann:hush-hush";
const secrets = ["hush-hush", Buffer.from(credentials).toString("base64")];
const publicAddress = "93.184.216.34";
const certificate = makeCertificate("tls.test");
const dns = await DnsServer.start(() => [{ a: publicAddress }]);
const web = await FarSide.start((request, response) => response.end(`hello ${request.headers.host}`));
const tls = await FarSide.start((_, response) => response.end("hello over TLS"), certificate);
const registry = await PackageRegistry.start();
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": "module.exports = 'tiny';\n" } });
const registryPort = new URL(registry.base).port;
const world = new Map([
  [`${publicAddress}:80`, web.port],
  [`${publicAddress}:443`, tls.port],
  [`${publicAddress}:${registryPort}`, Number(registryPort)],
]);
const upstream = await UpstreamProxy.start({ world: (authority) => world.get(authority), credentials });
const folder = mkdtempSync(path.join(tmpdir(), "glovebox-upstream-"));
writeFileSync(path.join(folder, "ca.pem"), certificate.cert);

afterAll(() => {
  for (const each of [upstream, registry]) each[Symbol.dispose]();
  for (const each of [dns, web, tls]) each.close();
  rmSync(folder, { recursive: true });
});

const getAll = `
import os, urllib.request
for address in ("http://web.test/", "https://tls.test/"):
    print(urllib.request.urlopen(address, timeout=30).read().decode())
try:
    urllib.request.urlopen("http://other.test/", timeout=30)
except Exception as error:
    print(error)
print(dict(os.environ))
`;

describe("a server behind an upstream proxy", () => {
  let served: ServedGlovebox;
  let log = "";
  let problem: unknown = null;
  beforeAll(async () => {
    served = await serveGlovebox({
      HTTPS_PROXY: `http://${credentials}@127.0.0.1:${upstream.port}`,
      NODE_EXTRA_CA_CERTS: path.join(folder, "ca.pem"),
      GLOVEBOX_NETWORK_DNS_SERVERS: dns.address,
      GLOVEBOX_PACKAGES_DIR: path.join(folder, "packages"),
      GLOVEBOX_LOG_LEVEL: "trace",
    });
    served.child.stderr?.on("data", (text) => (log += String(text)));
    const { status, body } = await execute({ code: "pass" });
    problem = status === 200 ? null : body;
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, "local", JSON.stringify(problem));
    upstream.forget();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  const execute = (request: object): ReturnType<ServedGlovebox["call"]> =>
    served.call("POST", "/api/sandbox/execute", { language: "python", timeout_seconds: 60, ...request });

  it("sends what is allowed through it, and reveals its password to no one", async () => {
    const { body } = await execute({ code: getAll, network: ["web.test", "tls.test"] });
    const { stdout, stderr } = body as Readonly<Record<string, string>>;
    expect(stdout, stderr).toMatch(/^hello web\.test\nhello over TLS\nHTTP Error 403: Forbidden\n/);
    expect(upstream.asked.map(({ authority }) => authority)).toEqual([`${publicAddress}:80`, `${publicAddress}:443`]);
    const metrics = await fetch(`${served.url}/metrics`, { headers: { authorization: `Bearer ${served.token}` } });
    await until(() => log.includes("other.test"));
    const told = [JSON.stringify(body), await metrics.text(), log].join("\n");
    for (const secret of secrets) expect(told).not.toContain(secret);
  });

  it("installs packages through it", async () => {
    const code = "console.log(require('gb-tiny'))";
    const { body } = await execute({ language: "javascript", code, packages: ["gb-tiny"] });
    expect(body).toMatchObject({ outcome: "completed", stdout: "tiny\n" });
    expect(new Set(upstream.asked.map(({ authority }) => authority))).toEqual(
      new Set([`${publicAddress}:${registryPort}`]),
    );
    expect(registry.downloads("gb-tiny")).toBe(1);
  });
});

it("a proxy that cannot be used gives no network rather than one beside it", async (context) => {
  process.env["HTTPS_PROXY"] = `socks5://${credentials}@127.0.0.1:${upstream.port}`;
  try {
    await using glovebox = await createGlovebox({ engine: "local", settings: { log_level: "fatal" } });
    const request = { language: "python", code: "print('ran')" } as const;
    const plain = await glovebox.execute(request).catch((error: unknown) => error);
    if (plain instanceof Error) return skipOrFail(context, "local", plain.message);
    expect(plain).toMatchObject({ stdout: "ran\n" });
    const refused = await glovebox.execute({ ...request, network: ["web.test"] }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      errorType: "NETWORK_ERROR",
      message: expect.stringMatching(/^(?!.*hush).*HTTPS_PROXY is not of the form http:\/\/HOST:PORT/),
      suggestion: expect.stringContaining("Correct HTTPS_PROXY"),
    });
  } finally {
    delete process.env["HTTPS_PROXY"];
  }
});
