/** How many bytes one call of `String.fromCharCode` takes without overflowing the stack. */
const pieceBytes = 32_768;

/** Bytes in base64; for browsers too. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + pieceBytes)));
  }
  return btoa(pieces.join(""));
}

/** @throws an error for text that is not base64 */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
