import type { Denial } from "../policy/network/denial.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { HostAndPort } from "../policy/network/domain-names.ts";
import type { UpstreamProxy } from "../policy/network/upstream-proxy.ts";

/** A package registry that the host is configured for. */
export interface Registry {
  readonly kind: "npm" | "python";
  readonly url: string;
}

/** Messages from the server to the proxy's process. */
export type ToProxy =
  /**
   * The first message: where to listen for channels, the DNS servers, if not the host's own, addresses of this machine
   * in addition to those of its interfaces, and the upstream proxy, with its password.
   */
  | {
      readonly type: "start";
      readonly path: string;
      readonly dnsServers: readonly string[];
      readonly hostAddresses: readonly string[];
      readonly upstream: UpstreamProxy | null;
    }
  /** A sandbox may connect this channel once, with this token; it may have several channels. */
  | { readonly type: "open"; readonly channel: string; readonly token: string; readonly policy: EgressPolicy }
  /**
   * From now on the channel has this policy: connections that it does not allow are cut. Answered when that is done.
   * Its byte limit remains that of its first policy.
   */
  | { readonly type: "change"; readonly number: number; readonly channel: string; readonly policy: EgressPolicy }
  | { readonly type: "close"; readonly channel: string }
  /** Which other hosts does a registry serve its files from? */
  | { readonly type: "ask"; readonly number: number; readonly registry: Registry }
  /** Answered in order, so that all earlier messages have been received. */
  | { readonly type: "flush"; readonly number: number };

/** Messages from the proxy's process to the server. */
export type FromProxy =
  /** It is listening; `certificates` are those that the host trusts, in PEM. */
  | { readonly type: "started"; readonly certificates: string }
  | { readonly type: "denied"; readonly channel: string; readonly denial: Denial }
  /** The upstream proxy failed; a phrase that follows "the upstream proxy". */
  | { readonly type: "trouble"; readonly reason: string }
  /** For `ask`: hosts that the registry serves its files from; empty for other requests. */
  | { readonly type: "answer"; readonly number: number; readonly hosts: readonly HostAndPort[] };

/** Maximum denials per sandbox that are reported to the server; the sandbox is still answered after that. */
export const maxDenialsTold = 100;
