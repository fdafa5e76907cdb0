import { createHash, timingSafeEqual } from "node:crypto";
import { maxReports } from "./signed-report.ts";

/** Programs whose output is signed by a shell that stands before them (`images/reporters/shell/tool.sh`). */
export const watchedTools = ["go", "cargo"] as const;
export type WatchedTool = (typeof watchedTools)[number];

/** Where the signed output of one start of such a program is left, if it was that one. */
export interface TextKey {
  readonly tool: WatchedTool;
  readonly file: string;
  readonly key: string;
}

/** As `reportKeys`, for a shell that has `sha256sum` and no more. */
export function textKeys(seed: string): readonly TextKey[] {
  const keys: TextKey[] = [];
  for (let own = seed; keys.length < maxReports * watchedTools.length; own = hash(`next ${own}`)) {
    for (const tool of watchedTools) {
      keys.push({ tool, file: hash(`name ${tool} ${own}`).slice(0, 32), key: hash(`key ${tool} ${own}`) });
    }
  }
  return keys;
}

/** The output without its signature, null when it is not signed with this key. */
export function verifiedText(bytes: Uint8Array, key: string): Uint8Array | null {
  const end = bytes.indexOf(10);
  const body = bytes.subarray(end + 1);
  const inner = createHash("sha256").update(key).update(body).digest("hex");
  const expected = Buffer.from(hash(`${key}${inner}`));
  const given = bytes.subarray(0, Math.max(end, 0));
  return given.length === expected.length && timingSafeEqual(given, expected) ? body : null;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
