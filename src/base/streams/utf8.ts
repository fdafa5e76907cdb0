/** Bytes that text takes in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Offset of the first byte of the first sequence that is not UTF-8 (overlong and surrogate ones are not); null if none. */
export function invalidUtf8Offset(bytes: Uint8Array): number | null {
  let offset = 0;
  while (offset < bytes.length) {
    const lead = bytes[offset] ?? 0;
    const rest = continuationCount(lead);
    if (rest === null) return offset;
    for (let index = 1; index <= rest; index += 1) {
      const [low, high] = index === 1 ? secondByteRange(lead) : [0x80, 0xbf];
      const byte = bytes[offset + index] ?? 0;
      if (byte < low || byte > high) return offset;
    }
    offset += 1 + rest;
  }
  return null;
}

function continuationCount(lead: number): number | null {
  if (lead < 0x80) return 0;
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  if (lead >= 0xf0 && lead <= 0xf4) return 3;
  return null;
}

/** The second byte is what tells overlong forms, surrogates and what lies beyond U+10FFFF apart. */
function secondByteRange(lead: number): readonly [number, number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

/** How many bytes at the beginning belong to a character that began before, at most 3. */
export function leadingPart(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count += 1;
  return count;
}

/** How many bytes at the end begin a character whose rest is missing. */
export function trailingPart(bytes: Uint8Array): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count += 1) {
    const byte = bytes[bytes.length - count];
    if (isContinuation(byte)) continue;
    const rest = continuationCount(byte ?? 0);
    return rest !== null && rest >= count ? count : 0;
  }
  return 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte <= 0xbf;
}
