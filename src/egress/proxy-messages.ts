import type { Denial } from "../policy/network/denial.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { HostAndPort } from "../policy/network/host-and-port.ts";
import type { UpstreamProxy } from "../policy/network/upstream-proxy.ts";

/** A package registry that the host is configured for. */
export interface Registry {
  readonly kind: "npm" | "python";
  readonly url: string;
}

/** What the server tells the proxy's process. */
export type ToProxy =
  /**
   * First of all: where to listen for channels, the DNS servers, if not the host's own, addresses of this machine
   * besides those of its interfaces, and the proxy through which connections go out, with its password.
   */
  | {
      readonly type: "start";
      readonly path: string;
      readonly dnsServers: readonly string[];
      readonly hostAddresses: readonly string[];
      readonly upstream: UpstreamProxy | null;
    }
  /** A sandbox may connect this channel, once, with this token; a sandbox may have several. */
  | { readonly type: "open"; readonly channel: string; readonly token: string; readonly policy: EgressPolicy }
  /**
   * From now on the channel has this policy: connections that it does not allow are cut. Answered when that is done.
   * The bytes that it may carry stay those of its first policy.
   */
  | { readonly type: "change"; readonly number: number; readonly channel: string; readonly policy: EgressPolicy }
  | { readonly type: "close"; readonly channel: string }
  /** Which other hosts does a registry serve its files from? */
  | { readonly type: "ask"; readonly number: number; readonly registry: Registry }
  /** Answered in turn, so that what was told before has been heard. */
  | { readonly type: "flush"; readonly number: number };

/** What the proxy's process tells the server. */
export type FromProxy =
  /** It listens; `certificates` are those that the host trusts, in PEM. */
  | { readonly type: "started"; readonly certificates: string }
  /** The channel's forwarder listens. */
  | { readonly type: "ready"; readonly channel: string }
  | { readonly type: "denied"; readonly channel: string; readonly denial: Denial }
  /** The upstream proxy failed; words to follow "the upstream proxy". */
  | { readonly type: "trouble"; readonly reason: string }
  /** To `ask`: hosts that the registry serves its files from; to other questions none. */
  | { readonly type: "answer"; readonly number: number; readonly hosts: readonly HostAndPort[] };

/** Denials of one sandbox that are told; the rest is only answered. */
export const maxDenialsTold = 100;
