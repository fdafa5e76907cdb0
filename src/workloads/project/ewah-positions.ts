const headBytes = 8;
const wordBytes = 8;
const wordBits = 64;

/**
 * Positions below `limit` that are set in a bitmap as git writes it (EWAH): its bits, its words, then words of which the
 * first says how many equal ones and how many plain ones follow. What is cut off has no positions.
 */
export function* ewahPositions(bytes: Uint8Array, limit: number): Generator<number, void, undefined> {
  if (bytes.length < headBytes) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = Math.min(headBytes + view.getUint32(4) * wordBytes, bytes.length - wordBytes + 1);
  let position = 0;
  for (let at = headBytes; at < end && position < limit;) {
    const marker = view.getBigUint64(at);
    at += wordBytes;
    const equalBits = Number((marker >> 1n) & 0xffff_ffffn) * wordBits;
    if ((marker & 1n) === 1n) for (let bit = position; bit < Math.min(position + equalBits, limit); bit += 1) yield bit;
    position += equalBits;
    for (let plain = Number(marker >> 33n); plain > 0 && at < end && position < limit; plain -= 1) {
      const word = view.getBigUint64(at);
      at += wordBytes;
      for (let bit = 0; bit < wordBits && position + bit < limit; bit += 1)
        if (((word >> BigInt(bit)) & 1n) === 1n) yield position + bit;
      position += wordBits;
    }
  }
}
