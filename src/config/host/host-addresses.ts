import os from "node:os";

/** Addresses at which this machine is reachable, except link-local ones. */
export function readHostAddresses(): { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] } {
  const rows = Object.values(os.networkInterfaces()).flatMap((each) => each ?? []);
  const of = (family: string): readonly string[] =>
    rows.filter((row) => row.family === family && !row.address.startsWith("fe80")).map(({ address }) => address);
  return { ipv4: of("IPv4"), ipv6: of("IPv6") };
}
