import type { Named } from "../../base/find-named.ts";
import { findNamed } from "../../base/find-named.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";

/**
 * The id of the live sandbox that a caller means by its id, its name or the beginning of its id (SPEC UI1); the word itself
 * if it means none. Only the principal's own are looked through. For the operator that includes those of the user's other
 * processes, and the beginnings of all ids, but no name that another principal gave: that would let it choose what the
 * operator reaches.
 * @throws INVALID_REQUEST naming the candidates if it means several
 */
export async function meantSandbox(
  platform: Pick<PlatformParts, "sandboxes" | "records">,
  word: string,
  { principal, isOperator = false }: Pick<OperationCall, "principal" | "isOperator">,
  field = "sandbox_id",
): Promise<string> {
  const own = platform.sandboxes.recordsOf(principal);
  const isWhole = own.some(({ id }) => id === word);
  const all = isWhole || !isOperator ? own : await nameable(platform, principal);
  return findNamed(word, all, field)?.id ?? word;
}

/** Everything of this user, with the principal's own names alone. */
async function nameable(
  { sandboxes, records }: Pick<PlatformParts, "sandboxes" | "records">,
  principal: string,
): Promise<readonly Named[]> {
  const written = await records.list();
  const byId = new Map<string, Named>(
    written.map(({ id, name, principal: whose }) => [id, { id, name: whose === principal ? name : undefined }]),
  );
  for (const { id, name } of sandboxes.recordsOf(principal)) byId.set(id, { id, name });
  return [...byId.values()];
}
