import { createHash, timingSafeEqual, createHmac } from "node:crypto";

/** A check for one secret that takes the same time whatever is shown to it. */
export function secretCheck(secret: string): (shown: string) => boolean {
  const expected = digest(secret);
  return (shown) => timingSafeEqual(digest(shown), expected);
}

/** What a proof is asked with: any other text is refused. */
export const nonceForm = /^[0-9a-f]{64}$/;

/**
 * Proves that a server knows a token, without revealing it: anyone on this machine may listen on a port that the user's
 * server has left. The port is part of it, so that the challenge cannot be relayed to a server on another port.
 */
export function serverProof(token: string, { nonce, port }: { readonly nonce: string; readonly port: number }): string {
  return createHmac("sha256", token).update(`glovebox console\n${nonce}\n${port}`).digest("hex");
}

/** Digests have one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
