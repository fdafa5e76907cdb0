import type { CallOperation, OperationCall } from "../contract/operation-call.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { reachedSandbox, type ReachedSandbox } from "../../sandbox/added-program.ts";
import { meantSandbox } from "./meant-sandbox.ts";
import { findSandboxes } from "./find-sandboxes.ts";
import { noPeerServer, notYours, ownerElsewhere, ownerGone, sandboxEnded, sandboxNotFound } from "./sandbox-errors.ts";

/** A live sandbox in this process, or a connection to the process that owns it. */
export type FoundPlace =
  | { readonly isHere: true; readonly sandbox: ReachedSandbox }
  | { readonly isHere: false; readonly id: string; readonly ask: CallOperation };

/**
 * A live sandbox of the caller, by its id, its name or the beginning of its id: one of the principal's own in this process; for the operator any of this user on this
 * machine, whichever process owns it.
 * @throws NOT_FOUND, which lists the existing ones for the operator; SANDBOX_LOST if its owner is gone, UNSUPPORTED if
 * it is out of reach
 */
export async function reachSandbox(
  platform: PlatformParts,
  word: string,
  { principal, isOperator = false, signal }: Pick<OperationCall, "principal" | "isOperator" | "signal">,
): Promise<FoundPlace> {
  const id = await meantSandbox(platform, word, { principal, isOperator });
  const isOwn = isOperator || platform.sandboxes.recordsOf(principal).some((record) => record.id === id);
  const own = isOwn ? platform.findLive(id) : undefined;
  if (own !== undefined) return { isHere: true, sandbox: reachedSandbox(own, { withSecrets: isOperator }) };
  if (!isOperator) throw notYours(id);
  if (platform.peers === null) throw sandboxEnded(id);
  const record = await platform.records.find(id);
  if (record === null) throw await unknownSandbox(platform, id, signal);
  if ((await platform.leases.stateOf(record.owner)) === "expired") throw ownerGone(id);
  const address = record.peerAddress ?? null;
  if (address === null) throw noPeerServer(id);
  return { isHere: false, id, ask: platform.peers.at(address) };
}

async function unknownSandbox(platform: PlatformParts, id: string, signal: AbortSignal | undefined): Promise<Error> {
  const found = await findSandboxes(platform, undefined, signal);
  const ids = found.map(({ row }) => row.sandbox_id);
  return ids.includes(id) ? ownerElsewhere(id) : sandboxNotFound(id, ids);
}
