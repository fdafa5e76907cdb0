import type { PlatformParts } from "../handling/platform-parts.ts";
import { reachRemote } from "../../sandbox/peers/remote-sandbox.ts";
import { assertOwnPeer } from "../../sandbox/peers/own-peers.ts";
import { ownSandbox, type RemoteSandbox } from "../../sandbox/peers/added-program.ts";
import { findSandboxes } from "./find-sandboxes.ts";
import { noPeerServer, ownerElsewhere, ownerGone, sandboxNotFound } from "./sandbox-errors.ts";

/**
 * A live sandbox of this user on this machine, whichever process has it.
 * @throws NOT_FOUND naming those that there are, SANDBOX_LOST when its owner is gone, UNSUPPORTED when it is out of reach
 */
export async function reachSandbox(platform: PlatformParts, id: string, signal?: AbortSignal): Promise<RemoteSandbox> {
  const own = platform.findLive(id);
  if (own !== undefined) return ownSandbox(own);
  const record = await platform.records.find(id);
  if (record === null) throw await unknownSandbox(platform, id, signal);
  if ((await platform.leases.stateOf(record.owner)) === "expired") throw ownerGone(id);
  const address = record.peerAddress ?? null;
  if (address === null) throw noPeerServer(id);
  await assertOwnPeer(address, platform.host);
  return reachRemote({ id, address, platform: platform.host.platform }, signal);
}

async function unknownSandbox(platform: PlatformParts, id: string, signal: AbortSignal | undefined): Promise<Error> {
  const found = await findSandboxes(platform, undefined, signal);
  const ids = found.map(({ row }) => row.sandbox_id);
  return ids.includes(id) ? ownerElsewhere(id) : sandboxNotFound(id, ids);
}
