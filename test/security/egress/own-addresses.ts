import type { DnsRecord } from "../../helpers/dns-server.ts";
import type { OwnNetwork } from "../../helpers/own-network.ts";

/** Public addresses that the machine of these tests has. */
export const ownNetwork: OwnNetwork = {
  addresses: ["9.9.9.9/32", "2620:fe::fe/128"],
  // The second one plays a NAT address that leads back here.
  localRanges: ["44.44.0.0/16", "23.23.23.0/24"],
};
/** What the operator has configured. */
export const addressOfNat = "23.23.23.0/24";
/** A public address that leads nowhere from where these tests run. */
const elsewhere = { a: "93.184.216.34" };
const loopback = { a: "127.0.0.1" };

type Records = readonly DnsRecord[];

/** Each kind of name that must lead nowhere. */
export const names: Readonly<Record<string, (asked: number) => Records>> = {
  // This machine's own public addresses, in every form.
  "own.test": () => [{ a: "9.9.9.9" }],
  "own6.test": () => [{ aaaa: "2620:fe::fe" }],
  "own-nat64.test": () => [{ aaaa: "64:ff9b::909:909" }],
  "own-mapped.test": () => [{ aaaa: "::ffff:909:909" }],
  "own-by-alias.test": () => [{ cname: "own.test" }, { a: "9.9.9.9" }],
  "nat.test": () => [{ a: "23.23.23.23" }],
  // Names that change their address, with a TTL of 0 seconds: first public, then not.
  "rebind.test": (asked) => [asked === 0 ? elsewhere : loopback],
  "rebind-to-own.test": (asked) => [asked === 0 ? elsewhere : { a: "9.9.9.9" }],
  "rebind-by-alias.test": (asked) => (asked === 0 ? [elsewhere] : [{ cname: "private.hidden.test" }, loopback]),
  "rebind-in-ipv6.test": (asked) => (asked === 0 ? [{ aaaa: "2606:2800:220:1::1" }] : [{ aaaa: "::1" }]),
  // Several addresses at once, one of which is reachable.
  "mixed.test": () => [elsewhere, loopback, { a: "9.9.9.9" }, { aaaa: "::1" }],
  "mixed-and-changing.test": (asked) => (asked % 2 === 0 ? [elsewhere, loopback] : [loopback, elsewhere]),
  // Forms of loopback.
  "mapped.test": () => [{ aaaa: "::ffff:7f00:1" }],
  "translated.test": () => [{ aaaa: "::ffff:0:7f00:1" }],
  "compatible.test": () => [{ aaaa: "::7f00:1" }],
  "nat64.test": () => [{ aaaa: "64:ff9b::7f00:1" }],
  "local-nat64.test": () => [{ aaaa: "64:ff9b:1::7f00:1" }],
  "sixtofour.test": () => [{ aaaa: "2002:7f00:1::" }],
  "teredo.test": () => [{ aaaa: "2001:0:7f00:1::80ff:fffe" }],
  "unspecified.test": () => [{ a: "0.0.0.0" }, { aaaa: "::" }],
};

/** An address that no interface has but at which this machine still answers. */
export const nameOfUnlisted = "unlisted.test";

export function addressesOf(name: string, asked: number): Records | undefined {
  const [, bare = name] = /^private\.(.*)$/.exec(name) ?? [];
  if (bare === nameOfUnlisted) return [{ a: "44.44.1.1" }];
  if (bare === "trusted.test") return [{ a: "9.9.9.9" }];
  return names[bare]?.(asked);
}
