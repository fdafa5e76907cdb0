import { parseDomainPattern, type DomainPattern } from "./network/domain-pattern.ts";
import { namedDomains, type NetworkPolicy } from "./network/network.ts";
import { grantRefused } from "./grant-refused.ts";

/** The words of `network` that a grant may name beside domains. */
const networkWords: ReadonlySet<string> = new Set(["none", "registries", "open"]);

/** Throws for an entry of a grant's networks that is neither a word of `network` nor a domain. @throws INVALID_REQUEST */
export function checkGrantedNetworks(granted: readonly string[], field: string): void {
  for (const entry of granted) if (!networkWords.has(entry)) parseDomainPattern(entry, field);
}

/**
 * Refuses a network policy that a grant does not cover: each domain must lie within one that is granted, ports included,
 * or `open` must be. `none` always passes; `registries` needs that word, since it may reach private hosts.
 * @throws POLICY_DENIED naming what is not covered
 */
export function assertNetworkGranted(policy: NetworkPolicy, granted: readonly string[], field = "network"): void {
  if (policy.kind === "none") return;
  const refuse = (value: string): never => {
    throw grantRefused({ field, value, rule: "network", allowed: ["none", ...granted.filter((it) => it !== "none")] });
  };
  if (policy.kind !== "domains" && !granted.includes(policy.kind)) refuse(policy.kind);
  if (granted.includes("open")) return;
  const domains = granted
    .filter((entry) => !networkWords.has(entry))
    .map((entry) => parseDomainPattern(entry, "network"));
  for (const asked of namedDomains(policy))
    if (!domains.some((domain) => covers(domain, asked))) refuse(wordsOf(asked));
}

/** Whether everything that `asked` stands for is something that `granted` stands for. */
function covers(granted: DomainPattern, asked: DomainPattern): boolean {
  if (!asked.ports.every((port) => granted.ports.includes(port))) return false;
  if (asked.name.endsWith(`.${granted.name}`)) return granted.subdomains;
  return asked.name === granted.name && asked.subdomains === granted.subdomains;
}

/** As a request writes it. */
function wordsOf({ name, subdomains, ports }: DomainPattern): string {
  const [port] = ports;
  return `${subdomains ? "*." : ""}${name}${ports.length === 1 ? `:${port}` : ""}`;
}
