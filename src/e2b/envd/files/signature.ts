import { createHash } from "node:crypto";
import { secretCheck } from "../../../base/http/same-secret.ts";

/** What a signature is good for. */
export interface SignedFile {
  /** As it is in the query, not made absolute. */
  readonly path: string;
  readonly operation: "read" | "write";
  readonly username: string;
  /** Unix seconds as they are in the query; null: it does not expire. */
  readonly expiration: string | null;
}

/** The signature that E2B's SDKs make with a sandbox's token for one file. */
export function signatureOf({ path, operation, username, expiration }: SignedFile, token: string): string {
  const parts = [path, operation, username, token, ...(expiration === null ? [] : [expiration])];
  return `v1_${createHash("sha256").update(parts.join(":")).digest("base64").replaceAll("=", "")}`;
}

/** Whether a signature was made with that token, in the same time whatever it is. */
export function isSignature(shown: string, file: SignedFile, token: string): boolean {
  return secretCheck(signatureOf(file, token))(shown);
}

/** Whether the time of a signature, which has been checked, has passed. */
export function hasExpired({ expiration }: SignedFile, nowMs: number): boolean {
  if (expiration === null) return false;
  return !/^\d{1,12}$/.test(expiration) || Number(expiration) * 1000 < nowMs;
}
