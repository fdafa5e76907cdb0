import { createHash, timingSafeEqual } from "node:crypto";

/** A check for one secret that takes the same time whatever is shown to it. */
export function secretCheck(secret: string): (shown: string) => boolean {
  const expected = digest(secret);
  return (shown) => timingSafeEqual(digest(shown), expected);
}

/** Digests have one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
