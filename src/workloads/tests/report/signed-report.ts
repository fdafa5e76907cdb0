import { createHmac, timingSafeEqual } from "node:crypto";

/** Runners that one command may start, one after another. */
export const maxReports = 16;

/** Where the report of one start of a runner is left, and the key that it is signed with. */
export interface ReportKey {
  readonly file: string;
  readonly key: string;
}

/**
 * Names and keys of the reports that grow from a seed, in the order in which runners start. Each runner replaces the seed
 * before it runs a test, so that what a test starts cannot sign as its runner.
 */
export function reportKeys(seed: string): readonly ReportKey[] {
  const keys: ReportKey[] = [];
  for (let own = seed; keys.length < maxReports; own = derive(own, "next")) {
    keys.push({ file: derive(own, "name").slice(0, 32), key: derive(own, "key") });
  }
  return keys;
}

/** The report without its signature, null when it is not signed with this key. */
export function verifiedReport(bytes: Uint8Array, key: string): Uint8Array | null {
  const end = bytes.indexOf(10);
  const body = bytes.subarray(end + 1);
  const expected = Buffer.from(createHmac("sha256", key).update(body).digest("hex"));
  const given = bytes.subarray(0, Math.max(end, 0));
  return given.length === expected.length && timingSafeEqual(given, expected) ? body : null;
}

function derive(seed: string, purpose: string): string {
  return createHmac("sha256", seed).update(purpose).digest("hex");
}
