import { connect, type Socket } from "node:net";
import type { AddressRange } from "../../policy/network/address-range.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { allowAddresses, denyTarget, type EgressPolicy } from "../../policy/network/egress-policy.ts";
import { formatHostAndPort, type HostAndPort } from "../../policy/network/host-and-port.ts";
import type { Resolve } from "./resolver.ts";

/** What came of asking for a connection: it, a denial by the policy, or the reason why the far side was not reached. */
export type Dialled = { readonly socket: Socket } | { readonly denied: Denial } | { readonly failed: string };

export interface DialOptions {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  /** The addresses of this machine. */
  readonly own: readonly AddressRange[];
  readonly idleMs: number;
}

const connectMs = 10_000;
/** Addresses of one name that are tried. */
const maxTries = 4;

/** Connects to a target that the policy allows, at the very address that was checked. */
export async function dial(target: HostAndPort, { policy, resolve, own, idleMs }: DialOptions): Promise<Dialled> {
  const denied = denyTarget(policy, target);
  if (denied !== null) return { denied };
  let addresses: readonly string[];
  try {
    addresses = await resolve(target.name);
  } catch {
    return { failed: `The name ${target.name} could not be looked up.` };
  }
  const checked = allowAddresses(policy, target, addresses, own);
  if ("rule" in checked) return { denied: checked };
  if (checked.length === 0) return { failed: `The name ${target.name} has no address.` };
  let reason = "";
  for (const address of checked.slice(0, maxTries)) {
    const connected = await connectTo(address, target.port);
    if (typeof connected !== "string") {
      connected.setTimeout(idleMs, () => connected.destroy());
      return { socket: connected };
    }
    reason = connected;
  }
  return { failed: `${formatHostAndPort(target)} could not be reached (${reason}).` };
}

/** The connection, or the code of what went wrong. */
function connectTo(host: string, port: number): Promise<Socket | string> {
  const { promise, resolve } = Promise.withResolvers<Socket | string>();
  const socket = connect({ host, port, noDelay: true });
  const timer = setTimeout(() => socket.destroy(Object.assign(new Error(), { code: "ETIMEDOUT" })), connectMs);
  socket.once("connect", () => {
    clearTimeout(timer);
    resolve(socket);
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    resolve(error.code ?? "an unknown error");
  });
  return promise;
}
