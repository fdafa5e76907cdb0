import { expect, it } from "vitest";
import { ewahPositions } from "./ewah-positions.ts";

/** Words of 64 bits, as git writes them. */
function bitmap(words: readonly bigint[], count = words.length): Uint8Array {
  const bytes = Buffer.alloc(12 + words.length * 8);
  bytes.writeUInt32BE(1_000, 0);
  bytes.writeUInt32BE(count, 4);
  for (const [at, word] of words.entries()) bytes.writeBigUInt64BE(word, 8 + at * 8);
  return bytes;
}

/** One run of equal bits, in words, and so many plain words after it. */
const marker = (isSet: boolean, run: bigint, plain: bigint): bigint => (isSet ? 1n : 0n) | (run << 1n) | (plain << 33n);

it("reads runs and plain words", () => {
  const words = [marker(false, 1n, 2n), 0b101n, 1n << 63n, marker(true, 1n, 0n)];
  expect([...ewahPositions(bitmap(words), 1_000)]).toEqual([
    ...[64, 66, 191],
    ...Array.from({ length: 64 }, (_, at) => 192 + at),
  ]);
});

it("stops at its limit and at the end of its bytes, whatever it says of its size", () => {
  expect([...ewahPositions(bitmap([marker(true, 0xffff_ffffn, 0n)]), 100)]).toHaveLength(100);
  expect([...ewahPositions(bitmap([marker(false, 0xffff_ffffn, 0x7fff_ffffn), 1n]), 1_000_000)]).toEqual([]);
  expect([...ewahPositions(bitmap([marker(false, 0n, 0x7fff_ffffn), 1n], 0xffff_ffff), 1_000_000)]).toEqual([0]);
  expect([...ewahPositions(bitmap([marker(false, 0n, 1n), 1n]).subarray(0, 17), 100)]).toEqual([]);
  for (const length of [0, 4, 8]) expect([...ewahPositions(new Uint8Array(length).fill(255), 100)]).toEqual([]);
});
