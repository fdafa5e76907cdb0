import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import type { GloveboxOptions } from "../../helpers/wire-glovebox.ts";
import { DnsServer, type DnsRecord } from "../../helpers/dns-server.ts";
import { FarSide, makeCertificate } from "../../helpers/far-side.ts";
import { testImages } from "../../helpers/test-images.ts";
import { NaiveProxy } from "./naive-proxy.ts";
import { listedNames, type ProxyPorts } from "./proxy-attacks.ts";
import type { AttackParameters } from "./run-attacks.ts";

const loopback: readonly DnsRecord[] = [{ a: "127.0.0.1" }];
const special: Readonly<Record<string, (asked: number) => readonly DnsRecord[]>> = {
  "hidden6.test": () => [{ aaaa: "::1" }],
  "mapped.test": () => [{ aaaa: "::ffff:7f00:1" }],
  "sixtofour.test": () => [{ aaaa: "2002:7f00:1::" }],
  "nat64.test": () => [{ aaaa: "64:ff9b::7f00:1" }],
  "alias.test": () => [{ cname: "hidden.test" }, ...loopback],
  "metadata.test": () => [{ a: "169.254.169.254" }],
  // The public address comes first; from most machines it leads nowhere.
  "rebind.test": (asked) => (asked === 0 ? [{ aaaa: "2606:2800:220:1::1" }] : loopback),
};

/** The targets of attacks over the network: servers on this machine, some of them allowed by the policy. */
export interface FarScene extends Disposable {
  readonly ports: ProxyPorts;
  readonly parameters: AttackParameters;
  /** The proxy that replaces ours where our policy does not apply. */
  readonly naiveProxyPort: number;
  readonly settings: NonNullable<GloveboxOptions["settings"]>;
  /** The list of allowed domains for the attacks. */
  readonly network: readonly string[];
  /** Connections to the server that must not be reached, and all names that were looked up. */
  readonly secretVisits: () => number;
  readonly namesAsked: ReadonlySet<string>;
}

export async function openFarScene(): Promise<FarScene> {
  const namesAsked = new Set<string>();
  const dns = await DnsServer.start((name, asked) => {
    namesAsked.add(name);
    return name.endsWith(".test") ? (special[name]?.(asked) ?? loopback) : undefined;
  });
  let visits = 0;
  const secret = await listen((_, response) => response.end("SECRET"));
  secret.on("connection", () => visits++);
  const web = await listen((request, response) => {
    if (request.url?.endsWith("/redirect") === true)
      response.writeHead(302, { location: "http://metadata.test/latest" });
    response.end(`hello ${request.headers.host}`);
  });
  const tls = await FarSide.start((_, response) => response.end("SECRET"), makeCertificate("tls.test", "other.test"));
  const raw = await listenTo(
    createServer((each) => void each.on("error", () => each.destroy()).once("data", () => each.end("SECRET"))),
  );
  const service = await listenTo(
    createServer((each) => void each.on("error", () => each.destroy()).end("welcome")),
    "::",
  );
  const datagrams = createSocket("udp4");
  datagrams.on("message", (_, from) => datagrams.send("welcome", from.port, from.address));
  datagrams.bind(0);
  await once(datagrams, "listening");
  const ports = { web: portOf(web), secret: portOf(secret), raw: portOf(raw) };
  const proxy = await NaiveProxy.start({
    resolver: dns.address,
    ports: [ports.secret, ports.web, ports.raw, tls.port],
  });
  const trusted = [`web.test:${ports.web}`, `tls.test:${tls.port}`, `raw.test:${ports.raw}`];
  return {
    ports,
    parameters: {
      proxyPort: 3128,
      webPort: ports.web,
      tlsPort: tls.port,
      servicePort: portOf(service),
      datagramPort: datagrams.address().port,
      resolverPort: Number(dns.address.split(":")[1]),
      hostAddresses: addressesOf("IPv4"),
      hostAddresses6: addressesOf("IPv6"),
    },
    naiveProxyPort: proxy.port,
    settings: { images: testImages, network: { dns_servers: [dns.address], private_hosts: trusted } },
    network: [...trusted, ...listedNames.map((name) => `${name}:${ports.secret}`), "metadata.test"],
    secretVisits: () => visits,
    namesAsked,
    [Symbol.dispose]: () => {
      for (const each of [dns, secret, web, tls, raw, service, datagrams, proxy]) each.close();
    },
  };
}

/** A web server as careless as the worst: it even accepts ambiguous requests. */
function listen(handler: RequestListener): Promise<Server> {
  return listenTo(createHttpServer({ insecureHTTPParser: true, requireHostHeader: false }, handler));
}

async function listenTo(server: Server, address = "127.0.0.1"): Promise<Server> {
  server.listen(0, address);
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function addressesOf(family: string): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((rows = []) =>
    rows.filter((row) => row.family === family && !row.address.startsWith("fe80")).map(({ address }) => address),
  );
}
