import type { Sabotage } from "./sabotage.ts";

const wayOut = "src/egress/proxy/way-out.ts";
const tunnel = "src/egress/proxy/way-out.ts";
const attacks = "test/security/egress/upstream-proxy.test.ts";
const hostile = "test/security/egress/hostile-upstream-proxy.test.ts";

export const upstreamSabotages: readonly Sabotage[] = [
  {
    id: "upstream: the proxy is handed the name instead of the address that was checked",
    file: wayOut,
    find: "await this.#tunnel(`${isIP(address) === 6 ? `[${address}]` : address}:${target.port}`)",
    replace: "await this.#tunnel(formatHostAndPort(target))",
    test: attacks,
    name: "cannot have the proxy look a name up again",
  },
  {
    id: "upstream: names that are not known here go to every proxy",
    file: wayOut,
    find: "upstream.resolvesNames &&",
    replace: "upstream.port > 0 &&",
    test: attacks,
    name: "is told what to set when the name cannot be looked up here",
  },
  {
    id: "upstream: what leads to this machine is asked of the proxy",
    file: wayOut,
    find: "|| isOfThisMachine(address, ownAddresses())",
    replace: "|| (ownAddresses().length < 0 && isOfThisMachine(address, []))",
    test: attacks,
    name: "reaches a trusted host of this machine directly",
  },
  {
    id: "upstream: NO_PROXY is not looked at",
    file: wayOut,
    find: "isDirect(upstream.direct, target, address) ||",
    replace: "isDirect([], target, address) ||",
    test: attacks,
    name: "leads names, ports and ranges past the proxy",
  },
  {
    id: "upstream: a program may speak to the proxy itself",
    file: "src/egress/proxy/dial.ts",
    find: "if (wayOut.isUpstreamItself(target, addresses ?? []))",
    replace: "if (target.port < 0 && wayOut.isUpstreamItself(target, []))",
    test: attacks,
    name: "cannot reach the proxy itself",
  },
  {
    id: "upstream: special names go to a proxy that looks names up",
    file: "src/egress/proxy/dial.ts",
    find: "if (!isSpecialName(target.name)) return null;",
    replace: "if (!isSpecialName(target.name) || target.port > 0) return null;",
    test: attacks,
    name: "never hears of a.localhost",
  },
  {
    id: "upstream: the far side of a tunnel is not judged again",
    file: "src/egress/proxy/proxy-channel.ts",
    find: "isDirect ? socket.remoteAddress : (address ?? undefined)",
    replace: "isDirect && address !== null ? socket.remoteAddress : undefined",
    test: attacks,
    name: "loses a tunnel that a new policy does not allow",
  },
  {
    id: "upstream: the other end of a tunnel's socket is taken for the far side",
    file: "src/egress/proxy/proxy-channel.ts",
    find: "isDirect ? socket.remoteAddress : (address ?? undefined)",
    replace: "isDirect || address !== null ? socket.remoteAddress : undefined",
    test: attacks,
    name: "reaches an allowed name by the address that was checked",
  },
  {
    id: "upstream: what the proxy sends behind its answer counts as the far side's",
    file: tunnel,
    find: "if (first.length > 0) return",
    replace: "if (first.length < 0) return",
    test: hostile,
    name: "200 with an answer of its own behind it",
  },
  {
    id: "upstream: any answer to CONNECT opens the tunnel",
    file: tunnel,
    find: "if (statusCode < 200 || statusCode > 299)",
    replace: "if (statusCode < 200 || statusCode > 599)",
    test: hostile,
    name: "302 to elsewhere",
  },
  {
    id: "upstream: a proxy may take its time to answer",
    file: tunnel,
    find: "} s`), withinMs);",
    replace: "} s`), withinMs * 1_000);",
    test: "src/egress/proxy/way-out.test.ts",
    name: "gives a proxy up that sends a byte from time to time",
  },
  {
    id: "upstream: a list of variables may hand the proxy's password to sandboxes",
    file: "src/config/load-config.ts",
    find: "variablesWithPasswords(hostEnvironment).map(",
    replace: "variablesWithPasswords({}).map(",
    test: "src/config/load-upstream-proxy.test.ts",
    name: "gives no sandbox its password by the list of variables",
  },
  {
    id: "upstream: a proxy that cannot be used is left out",
    file: "src/egress/network-access.ts",
    find: "if (upstreamFault !== null) throw",
    replace: 'if (upstreamFault?.variable === "") throw',
    test: "test/e2e/upstream-proxy.test.ts",
    name: "gives no network rather than one beside it",
  },
];
