import { GloveboxError } from "../errors/glovebox-error.ts";
import { takesInput } from "../operations/contract/input-body.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";

/**
 * A request's body with the standard input that follows it, read only as far as the server takes it.
 * @throws UNSUPPORTED for an operation without standard input
 */
export function followedByStdin(
  contract: OperationContract,
  body: string,
  stdin: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (takesInput(contract)) return inTurn(new TextEncoder().encode(`${body}\n`), stdin);
  throw new GloveboxError("UNSUPPORTED", `To a server ${contract.name} takes no standard input from a client.`, {
    suggestion: "Send it as a file, or run without a server.",
  });
}

async function* inTurn(
  line: Uint8Array,
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield line;
  yield* stdin;
}
