import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import { mebibyte } from "../../../base/bytes.ts";
import type { TestReport } from "./test-report.ts";
import { toCtrf } from "./to-ctrf.ts";

/** Bytes of a report that is kept, compressed and as it was. */
export const maxPackedBytes: number = 2 * mebibyte;
const maxUnpackedBytes: number = 64 * mebibyte;

/**
 * All tests in CTRF, compressed with gzip; where that is too large, without the details of failures, then without their
 * messages. Null: too large still.
 */
export function packReport(
  reports: readonly TestReport[],
  run: { readonly startMs: number; readonly stopMs: number },
): Uint8Array | null {
  for (const without of [{}, { details: null }, { details: null, message: null }]) {
    const shown = reports.map((report) => ({
      ...report,
      tests: report.tests.map((test) => ({ ...test, ...without })),
    }));
    const text = Buffer.from(toCtrf(shown, run));
    if (text.length > maxUnpackedBytes) continue;
    const packed = gzipSync(text);
    if (packed.length <= maxPackedBytes) return packed;
  }
  return null;
}

/** The CTRF of a packed report. @throws RangeError or Node's error for anything that `packReport` has not made */
export async function unpackReport(packed: Uint8Array): Promise<string> {
  return (await promisify(gunzip)(packed, { maxOutputLength: maxUnpackedBytes })).toString("utf8");
}
