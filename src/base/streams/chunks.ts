/** The bytes of the first, then those of the rest as they come. */
export async function* followedBy(
  first: Iterable<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* first;
  yield* rest;
}

/** A text as a stream of bytes; empty for none. */
export async function* textBytes(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  if (text !== "") yield Buffer.from(text);
}
