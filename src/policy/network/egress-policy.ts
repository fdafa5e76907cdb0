import {
  matches,
  matchesName,
  formatHostAndPort,
  type DomainPattern,
  type AuthorityFault,
  type HostAndPort,
} from "./domain-names.ts";
import { denial, type Denial } from "./denial.ts";
import { addressKind, type AddressRange } from "./ip-address.ts";

/** What one sandbox may reach, in the form that the proxy enforces. */
export interface EgressPolicy {
  /** The policy in the words of a request, for messages. */
  readonly name: "registries" | "registries and domains" | "installing" | "domains" | "open" | "none";
  readonly allowed: readonly DomainPattern[];
  /** Hosts that the operator trusts, each at its own port only: their addresses may be private. */
  readonly trusted: readonly HostAndPort[];
  /** Bytes in both directions together. */
  readonly maxBytes: number;
}

/** Nothing at all: what is left of a sandbox's network when its installing phase is over. */
export const lockedPolicy: EgressPolicy = { name: "none", allowed: [], trusted: [], maxBytes: 0 };

/** The denial of a target, or null when the policy allows its name and port. */
export function denyTarget(policy: EgressPolicy, target: HostAndPort): Denial | null {
  if (policy.allowed.some((pattern) => matches(pattern, target))) return null;
  const shown = formatHostAndPort(target);
  const wanted = target.port === 80 || target.port === 443 ? target.name : shown;
  if (policy.name === "none") {
    return denial(
      "locked",
      shown,
      "The network was open only while packages were installed; the code after that has none.",
      addWhenTrusted(wanted),
    );
  }
  if (policy.name === "installing") {
    return denial(
      "not_allowed",
      shown,
      `While packages are installed only the package registries can be reached, and ${shown} is not one of them.`,
      "Take the package from a registry, or use an image that has it. A registry of your own can be reached if npm or pip on Glovebox's machine is configured for it.",
    );
  }
  const ports = policy.allowed.filter((pattern) => matchesName(pattern, target.name)).flatMap(({ ports }) => ports);
  if (ports.length > 0) {
    return denial(
      "port",
      shown,
      `${target.name} is allowed only at port ${[...new Set(ports)].join(" and ")}.`,
      addWhenTrusted(shown),
    );
  }
  const allowed = {
    registries: "the package registries",
    "registries and domains": "the package registries and the hosts that the run itself needs",
    domains: "the listed domains",
    open: "public names",
  };
  return denial(
    "not_allowed",
    shown,
    `The run's network policy allows only ${allowed[policy.name]}, and ${target.name} is not one of them.`,
    addWhenTrusted(wanted),
  );
}

/** A program chose what it asked for: only who knows the host should allow it. */
function addWhenTrusted(shown: string): string {
  return `${hostChosen(shown)}.`;
}

/** The same as the beginning of a sentence. */
export function hostChosen(shown: string): string {
  return `The program chose this host: if you trust it, add "${shown}" to the run's network`;
}

/** The same of a host whose addresses are private. */
export function trustWhenKnown(shown: string): string {
  return `The program chose this host: if the operator trusts it, add "${shown}" to network.private_hosts.`;
}

/** The denial of a target that is not a name and port. */
export function denyAuthority(fault: AuthorityFault, text: string): Denial {
  switch (fault) {
    case "address":
      return denial("address", text, "Connections can only be made by name, not by address.", "Use the host's name.");
    case "name":
      return denial(
        "name",
        text,
        "The host name must consist of letters, digits, hyphens and single dots.",
        "Use the plain form of the name, without a trailing dot; write internationalised names as xn--.",
      );
    case "port":
      return denial("port", text, "The port is missing or not a number from 1 to 65535.", "Give a valid port.");
  }
}

/**
 * The addresses of a name that may be dialled from a machine with the addresses `own`, or the denial if none of them may be.
 * Private addresses are dropped instead of refusing the rest, because only checked addresses are dialled.
 */
export function allowAddresses(
  policy: Pick<EgressPolicy, "trusted">,
  target: HostAndPort,
  addresses: readonly string[],
  own: readonly AddressRange[],
): readonly string[] | Denial {
  const isTrusted = policy.trusted.some(({ name, port }) => name === target.name && port === target.port);
  const kinds = addresses.map((address) => ({ address, ...addressKind(address, own) }));
  const left = kinds.filter(({ reach }) => reach === "public" || (reach === "private" && isTrusted));
  if (left.length > 0 || kinds.length === 0) return left.map(({ address }) => address);
  const words = [...new Set(kinds.map((kind) => kind.words))].join("; ");
  return denial(
    "private_address",
    formatHostAndPort(target),
    `${target.name} resolves to no public address (${words}).`,
    kinds.some(({ reach }) => reach === "private")
      ? trustWhenKnown(formatHostAndPort(target))
      : "Such addresses are never allowed.",
  );
}
