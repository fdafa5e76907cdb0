import type { Socket } from "node:net";
import type { AddressRange } from "../../policy/network/ip-address.ts";
import { denial, type Denial } from "../../policy/network/denial.ts";
import { allowAddresses, denyTarget, trustWhenKnown, type EgressPolicy } from "../../policy/network/egress-policy.ts";
import { formatHostAndPort, isSpecialName, type HostAndPort } from "../../policy/network/domain-names.ts";
import type { Resolve, Reached, WayOut } from "./way-out.ts";

/**
 * The result of asking for a connection: the connection, a denial by the policy, or the reason why the far side was not
 * reached.
 */
export type Dialled = { readonly socket: Socket } | { readonly denied: Denial } | { readonly failed: string };

/** A connection with what is known about its far side. */
export type Connected = Exclude<Reached, { readonly failed: string }>;

export interface DialOptions {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  /** The addresses of this machine. */
  readonly own: readonly AddressRange[];
  readonly wayOut: WayOut;
  readonly idleMs: number;
}

/** How long a lookup may take if the upstream proxy also makes one. */
const seatBeltMs = 3_000;

/**
 * Connects to a target that the policy allows, at the very address that was checked: directly, or by asking the upstream
 * proxy for that address. Only where the operator has said so, and the name is not known here, is the proxy asked for the
 * name (docs/network.md).
 */
export async function dial(
  target: HostAndPort,
  options: DialOptions,
): Promise<Connected | Exclude<Dialled, { readonly socket: Socket }>> {
  const { policy, own, wayOut, idleMs } = options;
  const denied = denyTarget(policy, target);
  if (denied !== null) return { denied };
  const [trouble, addresses] = await Promise.all([wayOut.prepare(), lookUp(target.name, options)]);
  const shown = formatHostAndPort(target);
  if (trouble !== null) return { failed: `${shown} could not be reached: ${trouble}.` };
  if (wayOut.isUpstreamItself(target, addresses ?? [])) return { denied: upstreamItself(target) };
  const isUnknown = addresses === null || addresses.length === 0;
  if (isUnknown && !wayOut.takesName(target)) return { failed: unknownName(target.name, addresses, wayOut) };
  const checked = isUnknown
    ? denyUnchecked(policy, target)
    : allowAddresses(policy, target, addresses, [...own, ...wayOut.upstreamRanges]);
  if (checked !== null && "rule" in checked) return { denied: checked };
  const reached = checked === null ? await wayOut.connectByName(target) : await wayOut.connect(target, checked);
  if ("failed" in reached) return { failed: `${shown} could not be reached (${reached.failed}).` };
  const { socket } = reached;
  socket.setTimeout(idleMs, () => socket.destroy());
  return reached;
}

/** Null when nobody answered. */
async function lookUp(name: string, { resolve, wayOut }: DialOptions): Promise<readonly string[] | null> {
  const asked = resolve(name).catch(() => null);
  if (wayOut.upstream?.resolvesNames !== true) return asked;
  const { promise: late, resolve: giveUp } = Promise.withResolvers<null>();
  const timer = setTimeout(giveUp, seatBeltMs, null);
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

function unknownName(name: string, addresses: readonly string[] | null, { upstream }: WayOut): string {
  const fault = addresses === null ? "could not be resolved" : "has no address";
  if (upstream === null) return `The name ${name} ${fault}.`;
  return `The name ${name} ${fault} on Glovebox' machine, and the upstream proxy is handed addresses that were checked, no names. Where only the proxy can look names up, the operator sets network.upstream_resolves.`;
}

/**
 * What the upstream proxy looks up cannot be checked; names that are never public are not passed to it, except trusted
 * hosts.
 */
function denyUnchecked({ trusted }: EgressPolicy, target: HostAndPort): Denial | null {
  if (trusted.some(({ name, port }) => name === target.name && port === target.port)) return null;
  if (!isSpecialName(target.name)) return null;
  const shown = formatHostAndPort(target);
  return denial("private_address", shown, `${target.name} is no public name.`, trustWhenKnown(shown));
}

/** Programs that spoke to it directly would bypass the policy. */
function upstreamItself(target: HostAndPort): Denial {
  return denial(
    "private_address",
    formatHostAndPort(target),
    `${target.name} is the proxy that Glovebox itself uses.`,
    "Such addresses are never allowed.",
  );
}
