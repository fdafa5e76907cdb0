import { PeerCall } from "./peer-call.ts";
import { peerProtocol } from "./peer-messages.ts";

/** How long the owner may take to tell what it knows already. */
const answerMs = 2_000;

/** What the owner of a sandbox knows of its use, as its process writes it. @throws as `reachRemote`, CANCELLED when it is late */
export async function askRemoteUsage(
  { id, address }: { readonly id: string; readonly address: string },
  caller?: AbortSignal,
): Promise<unknown> {
  const signal = AbortSignal.any([AbortSignal.timeout(answerMs), ...(caller === undefined ? [] : [caller])]);
  const request = { protocol: peerProtocol, sandbox_id: id, action: "usage" } as const;
  const { call } = await PeerCall.open(address, request, signal);
  const { usage } = await call.expect("usage");
  return usage;
}
