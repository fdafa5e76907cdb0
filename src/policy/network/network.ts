import { maxDomains } from "../../operations/contract/wire-values.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { parseDomainPattern, type DomainPattern } from "./domain-names.ts";

/** What a sandbox may reach over the network (SPEC SC3). */
export type NetworkPolicy =
  | { readonly kind: "none" }
  /** The package registries that the host is configured for. */
  | {
      readonly kind: "registries";
      readonly beside?: readonly DomainPattern[];
      /** Whether it is an installation's, to which a request cannot add. */
      readonly isInstalling?: true;
    }
  | { readonly kind: "domains"; readonly domains: readonly DomainPattern[] }
  /** Every public name. */
  | { readonly kind: "open"; readonly beside?: readonly DomainPattern[] };

/** What installations may reach, whatever the run's own network. */
export const installingNetwork: NetworkPolicy = { kind: "registries", isInstalling: true };

/**
 * The same policy with further domains, which no request has to list: `beside` of the two words that stand for names
 * themselves.
 */
export function withDomains(policy: NetworkPolicy, domains: readonly DomainPattern[]): NetworkPolicy {
  if (domains.length === 0) return policy;
  switch (policy.kind) {
    case "none":
      return { kind: "domains", domains };
    case "domains":
      return { kind: "domains", domains: [...policy.domains, ...domains] };
    case "registries":
    case "open":
      return { kind: policy.kind, beside: [...(policy.beside ?? []), ...domains] };
  }
}

/** The domains that a policy names one by one. */
export function namedDomains(policy: NetworkPolicy): readonly DomainPattern[] {
  if (policy.kind === "none") return [];
  return policy.kind === "domains" ? policy.domains : (policy.beside ?? []);
}

const expected = '"none", "registries", "open" or a list of domains';

/**
 * The network policy of a request; left out, or an empty list, it is `none`, the strictest.
 * @throws INVALID_REQUEST for anything else than the four forms
 */
export function parseNetwork(value: unknown, field = "network"): NetworkPolicy {
  if (value === undefined || value === "none") return { kind: "none" };
  if (value === "registries" || value === "open") return { kind: value };
  if (!Array.isArray(value)) throw invalidField(field, expected, typeof value === "string" ? value : typeof value);
  if (value.length > maxDomains) throw invalidField(field, `at most ${maxDomains} domains`, value.length);
  const domains = (value as unknown[]).map((domain, index) => {
    const place = `${field}[${index}]`;
    if (typeof domain !== "string") throw invalidField(place, "a domain such as example.com", typeof domain);
    return parseDomainPattern(domain, place);
  });
  return domains.length === 0 ? { kind: "none" } : { kind: "domains", domains };
}

/**
 * Refuses `open` where the deployment has not enabled it, and where the upstream proxy looks names up: which of them are
 * public cannot be seen here then.
 * @throws POLICY_DENIED naming the setting
 */
export function assertNetworkAllowed(
  policy: NetworkPolicy,
  { allowOpen, upstreamResolves }: { readonly allowOpen: boolean; readonly upstreamResolves: boolean },
  field = "network",
): void {
  if (policy.kind !== "open") return;
  if (upstreamResolves) {
    throw new GloveboxError(
      "POLICY_DENIED",
      `${field}: "open" is not served where the upstream proxy looks names up.`,
      {
        suggestion:
          "List the domains that the code needs; the operator can do without network.upstream_resolves where this machine looks public names up itself.",
        context: { field, network: "open", setting: "network.upstream_resolves" },
      },
    );
  }
  if (allowOpen) return;
  throw new GloveboxError("POLICY_DENIED", `${field}: "open" is not enabled in this deployment.`, {
    suggestion:
      'List the domains that the code needs, or use "registries"; the operator enables "open" with network.allow_open (GLOVEBOX_ALLOW_OPEN_NETWORK=true).',
    context: { field, network: "open", setting: "network.allow_open" },
  });
}
