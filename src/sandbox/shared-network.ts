import type { EgressConnection, RedactText } from "../egress/egress-connection.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { namedDomains, type NetworkPolicy } from "../policy/network/network.ts";
import type { Denial } from "../policy/network/denial.ts";
import { openNetwork, type OpenNetwork } from "./open-network.ts";

/** A program's share of its sandbox's network. */
export interface NetworkUser {
  readonly policy: NetworkPolicy;
  readonly onDenied: (denial: Denial) => void;
  readonly redact: RedactText;
}

export interface NetworkPart {
  /** The connection that all shares use; opened by the first. @throws what `openNetwork` throws */
  open(how: Omit<OpenNetwork, "onDenied" | "redact">): Promise<EgressConnection>;
  /** The connection closes with the last share. */
  leave(): void;
}

/**
 * The network of a sandbox in which several programs run. They share one loopback: whatever one may connect to, all
 * others can too. So all that run at the same time must have the same network, or all none.
 */
export class SharedNetwork {
  readonly #users = new Set<NetworkUser>();
  #opening: Promise<EgressConnection> | null = null;

  /** Call this before the program starts. @throws POLICY_DENIED if programs with another network are running */
  join(user: NetworkUser): NetworkPart {
    const [other] = this.#users;
    if (other !== undefined && keyOf(other.policy) !== keyOf(user.policy)) throw otherNetwork(other.policy);
    this.#users.add(user);
    return {
      open: (how) => this.#open(how),
      leave: () => {
        if (this.#users.delete(user) && this.#users.size === 0) this.#close();
      },
    };
  }

  async #open(how: Omit<OpenNetwork, "onDenied" | "redact">): Promise<EgressConnection> {
    const asked = this.#opening;
    const known = await asked?.catch(() => null);
    if (known?.isLost === false) return known;
    if (this.#opening === asked) {
      this.#opening = openNetwork({
        ...how,
        onDenied: (denial) => {
          for (const { onDenied } of this.#users) onDenied(denial);
        },
        redact: (text) => [...this.#users].reduce((shown, { redact }) => redact(shown), text),
      });
    }
    return this.#opening ?? this.#open(how);
  }

  #close(): void {
    this.#opening?.then(
      (network) => network.close(),
      () => undefined,
    );
    this.#opening = null;
  }
}

function keyOf(policy: NetworkPolicy): string {
  const domains = namedDomains(policy).map((domain) => JSON.stringify(domain));
  return JSON.stringify([policy.kind, ...domains.toSorted()]);
}

function otherNetwork({ kind }: NetworkPolicy): GloveboxError {
  const words = kind === "domains" ? "another list of domains" : `network ${JSON.stringify(kind)}`;
  return new GloveboxError(
    "POLICY_DENIED",
    `network: programs with ${words} run in this sandbox, and all that run there at once share one network.`,
    {
      suggestion: "Ask for the same network, or stop the session's background processes first (stop_process).",
      context: { field: "network", rule: "one-network", network: kind },
    },
  );
}
