import { expect, it } from "vitest";
import { sendPieces, type SentPieces } from "./http-caller.ts";

/** A source that counts what is taken of it, and knows when it is left. */
function counted(): AsyncIterable<Uint8Array> & { taken: number; isLeft: boolean } {
  const source = {
    taken: 0,
    isLeft: false,
    async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          source.taken += 1;
          yield Uint8Array.of(source.taken);
        }
      } finally {
        source.isLeft = true;
      }
    },
  };
  return source;
}
const sent = (content: AsyncIterable<Uint8Array>): SentPieces & { readonly reader: ReadableStreamDefaultReader } => {
  const pieces = sendPieces(content, new AbortController().signal);
  return { ...pieces, reader: (pieces.body as ReadableStream<Uint8Array>).getReader() };
};

it("takes a piece when one is wanted, and not before", async () => {
  const source = counted();
  const { reader } = sent(source);
  await new Promise(setImmediate);
  expect(source.taken).toBe(0);
  expect(await reader.read()).toEqual({ done: false, value: Uint8Array.of(1) });
  expect(source.taken).toBe(1);
});

it("takes nothing more after the end of the call, and what was sent does not pass for the whole", async () => {
  const source = counted();
  const { reader, end } = sent(source);
  await reader.read();
  end();
  await expect(reader.read()).rejects.toThrow("over before its input");
  expect(source).toMatchObject({ taken: 1, isLeft: true });
});

it("does not wait for a source that is silent when the call ends", async () => {
  const { reader, end } = sent({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) });
  const reading = reader.read();
  end();
  await expect(reading).rejects.toThrow("over before its input");
});

it("keeps what its source threw, and ends with its source", async () => {
  const { reader, failure } = sent({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no disk")) }),
  });
  await expect(reader.read()).rejects.toThrow("no disk");
  expect(failure()).toMatchObject({ error: { message: "no disk" } });
  const none = sent(ReadableStream.from([]));
  expect(await none.reader.read()).toEqual({ done: true, value: undefined });
  expect(none.failure()).toBeNull();
});
