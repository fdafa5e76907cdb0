import type { OperationCall } from "../contract/operation-call.ts";

/** Standard input of a program: as its request has it, else as it comes with the call; undefined for none. */
export function inputOf(
  { stdin }: { readonly stdin?: string | undefined },
  call: Pick<OperationCall, "stdin">,
): AsyncIterable<Uint8Array> | undefined {
  return stdin === undefined ? call.stdin : inOnePiece(stdin);
}

async function* inOnePiece(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  if (text !== "") yield Buffer.from(text);
}
