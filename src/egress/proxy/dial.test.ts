import { describe, expect, it } from "vitest";
import type { EgressPolicy } from "../../policy/network/egress-policy.ts";
import { readUpstreamProxy } from "../../policy/network/upstream-proxy.ts";
import { dial } from "./dial.ts";
import { WayOut } from "./way-out.ts";

/** A proxy of the public Internet, at which nothing is dialled here. */
const proxyAddress = "93.184.216.40";

function dialAs(
  name: string,
  port: number,
  addresses: readonly string[],
  trusted: EgressPolicy["trusted"] = [],
): ReturnType<typeof dial> {
  const upstream = readUpstreamProxy({ HTTPS_PROXY: "http://proxy.test:3128", NO_PROXY: "*" }, false);
  if (upstream === null || "fault" in upstream) throw new Error("no proxy");
  const wayOut = new WayOut({
    upstream,
    resolve: async () => [proxyAddress],
    ownAddresses: () => [],
    onTrouble: () => undefined,
  });
  const allowed = [{ name: "", subdomains: true, ports: [port] }];
  const policy: EgressPolicy = { name: "open", allowed, trusted, maxBytes: 1 };
  return dial({ name, port }, { policy, resolve: async () => addresses, own: [], wayOut, idleMs: 1_000 });
}

describe("an upstream proxy at a public address", () => {
  it.each([
    ["by an alias", "evil.test", [proxyAddress]],
    ["by an alias among others", "evil.test", ["93.184.216.34", proxyAddress]],
    ["in an IPv6 form", "evil.test", [`::ffff:${proxyAddress}`]],
    ["by its name, whatever that means here", "proxy.test", ["93.184.216.34"]],
    ["by its name, which means nothing here", "proxy.test", []],
  ])("is not reached at its port %s, trusted or not", async (_, name, addresses) => {
    for (const trusted of [[], [{ name, port: 3128 }]]) {
      expect(await dialAs(name, 3128, addresses, trusted)).toMatchObject({
        denied: { rule: "private_address", reason: expect.stringContaining("Glovebox itself uses") },
      });
    }
  });

  it("counts as private at its other ports", async () => {
    expect(await dialAs("evil.test", 443, [proxyAddress])).toMatchObject({
      denied: { rule: "private_address", remedy: expect.stringContaining("network.private_hosts") },
    });
  });
});
