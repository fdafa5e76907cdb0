import { HttpRefusal } from "./server/http-refusal.ts";

/** The part of a file that a request wants; empty: all of it. */
export interface WantedPart {
  readonly offset?: number;
  readonly limit?: number;
  readonly last?: number;
}

const form = /^bytes=(?:(?<first>\d{1,15})-(?<end>\d{1,15})?|-(?<last>\d{1,15}))$/;

/**
 * What `Range` asks for. Other units than bytes are ignored, and so is a range that depends on a validator (`If-Range`), of which
 * files here have none.
 * @throws 416 for a range of bytes that is malformed, or for several
 */
export function readRange({
  range,
  "if-range": condition,
}: {
  readonly range?: string | undefined;
  readonly "if-range"?: unknown;
}): WantedPart {
  const text = range?.replaceAll(/\s/g, "").toLowerCase() ?? "";
  if (condition !== undefined || !text.startsWith("bytes=")) return {};
  const { first, end, last } = form.exec(text)?.groups ?? {};
  if (last !== undefined && Number(last) > 0) return { last: Number(last) };
  if (first === undefined) throw badRange(null);
  const [offset, lastByte] = [Number(first), end === undefined ? null : Number(end)];
  if (lastByte === null) return { offset };
  if (lastByte < offset) throw badRange(null);
  return { offset, limit: lastByte - offset + 1 };
}

/** The refusal of a range that a file of so many bytes does not have; null: of one that no file has. */
export function badRange(sizeBytes: number | null): HttpRefusal {
  const problem = sizeBytes === null ? "it is malformed, or more than one" : `the file has ${sizeBytes} bytes`;
  return new HttpRefusal(416, "INVALID_REQUEST", `Range: expected one range within the file; ${problem}.`, {
    suggestion: "Send bytes=FIRST-LAST, bytes=FIRST- or bytes=-LENGTH, or no Range for the whole file.",
    context: { field: "Range", ...(sizeBytes === null ? {} : { size_bytes: sizeBytes }) },
  });
}
