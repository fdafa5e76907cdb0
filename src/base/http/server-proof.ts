import { createHmac } from "node:crypto";

/** What a proof is asked with: any other text is refused. */
export const nonceForm = /^[0-9a-f]{64}$/;

/**
 * Shows that a server knows a token, without giving it: everybody on this machine may listen on a port that a server of the
 * user's has left. The port is part of it, so that nobody hands on the question to a server on another one.
 */
export function serverProof(token: string, { nonce, port }: { readonly nonce: string; readonly port: number }): string {
  return createHmac("sha256", token).update(`glovebox console\n${nonce}\n${port}`).digest("hex");
}
