import { parseDuration } from "../../base/duration.ts";
import { invalidField } from "../../errors/glovebox-error.ts";

/** An offset as typed. @throws INVALID_REQUEST naming the option */
export function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw invalidField("--offset", "a whole number such as 120", text);
  return Number(text);
}

/**
 * A time as typed, in milliseconds since the epoch: a duration ago (`10m`), or a date (`2026-11-22T21:30:00Z`).
 * @throws INVALID_REQUEST naming the option
 */
export function parseSince(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const date = Date.parse(text);
    if (Number.isNaN(date)) throw invalidField("--since", "a time such as 2026-11-22T21:30:00Z, or 10m", text);
    return date;
  }
  return nowMs - parseDuration(text, "--since");
}
