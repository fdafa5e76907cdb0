import * as z from "zod";
import { mebibyte } from "../../base/bytes.ts";
import { parseAuthority } from "../../policy/network/host-and-port.ts";
import { parseAddressRange } from "../../policy/network/address-range.ts";
import { parseAddress } from "../../policy/network/ip-address.ts";
import type { Config } from "../config.ts";
import { wholeNumber } from "./leaf-schemas.ts";

const maxEntries = 256;
const maxBytes = 1024 * 1024 * mebibyte;

/** The section `network`. */
export function networkSection(): z.ZodPrefault<z.ZodObject<NetworkShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        allow_open: z
          .boolean("true or false")
          .default(false)
          .describe("Whether requests may ask for network `open`: every public host."),
        private_hosts: list("hosts with their ports, such as mirror.internal:4873", isHostAndPort)
          .default([])
          .describe(
            "Hosts that may be reached although their addresses are private, each at its port only, if the run's network allows them.",
          ),
        dns_servers: list("addresses of DNS servers, such as 192.0.2.53 or 192.0.2.53:5353", isServer)
          .default([])
          .describe("DNS servers that resolve names for sandboxes; none: the host's own resolver."),
        host_addresses: list("addresses or ranges, such as 203.0.113.7 or 2001:db8::/64", isRange)
          .default([])
          .describe(
            "Addresses of this machine besides those of its own interfaces, such as that of a NAT in front of it; sandboxes may not connect to them.",
          ),
        upstream_resolves: z
          .boolean("true or false")
          .default(false)
          .describe(
            "Whether names that cannot be resolved here are passed to the proxy in `HTTPS_PROXY`, which then decides where they lead: weaker, and not available with network `open`.",
          ),
        max_bytes: wholeNumber("bytes", 1024, maxBytes)
          .default(1024 * mebibyte)
          .describe("Maximum bytes that one sandbox may send and receive over the network."),
      },
      "an object",
    )
    .prefault({});
}

type NetworkShape = {
  allow_open: z.ZodDefault<z.ZodBoolean>;
  private_hosts: z.ZodDefault<z.ZodArray<z.ZodString>>;
  dns_servers: z.ZodDefault<z.ZodArray<z.ZodString>>;
  host_addresses: z.ZodDefault<z.ZodArray<z.ZodString>>;
  upstream_resolves: z.ZodDefault<z.ZodBoolean>;
  max_bytes: z.ZodDefault<z.ZodNumber>;
};

/** The section's values as they are used inside. */
export function toNetwork(section: z.output<z.ZodObject<NetworkShape>>): Config["network"] {
  return {
    allowOpen: section.allow_open,
    privateHosts: section.private_hosts.flatMap((text) => {
      const host = parseAuthority(text, null);
      return typeof host === "string" ? [] : [host];
    }),
    dnsServers: section.dns_servers,
    hostAddresses: section.host_addresses,
    upstreamResolves: section.upstream_resolves,
    maxBytes: section.max_bytes,
  };
}

function list(what: string, isValid: (text: string) => boolean): z.ZodArray<z.ZodString> {
  const words = `a list of ${what}`;
  return z.array(z.string(words).refine(isValid, words), words).max(maxEntries, words);
}

function isHostAndPort(text: string): boolean {
  return typeof parseAuthority(text, null) !== "string";
}

function isRange(text: string): boolean {
  return parseAddressRange(text) !== null;
}

/** `address`, or `address:port` with an IPv6 address in brackets. */
function isServer(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+|[0-9a-f:.]+?))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const isPort = port === undefined || (Number(port) > 0 && Number(port) <= 65_535);
  return isPort && (parseAddress(bracketed ?? plain ?? "") !== null || parseAddress(text) !== null);
}
