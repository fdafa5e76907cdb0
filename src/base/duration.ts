import { invalidField } from "../errors/glovebox-error.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Longest duration that a timer can wait; a longer one would fire immediately. */
export const maxDurationMs: number = 2 ** 31 - 1;

const expected = 'a duration such as "500ms", "30s", "2m", "1h", or a number of seconds such as "90" (at most 24 days)';

/**
 * Milliseconds of a duration as people write it; a bare number is seconds, zero is allowed.
 * @throws INVALID_REQUEST naming the field, with examples
 */
export function parseDuration(text: string, field: string): number {
  const match = /^(\d{1,15}(?:\.\d{1,9})?) ?(ms|s|m|h)?$/i.exec(text.trim());
  if (match === null) throw invalidField(field, expected, text);
  const milliseconds = Math.round(Number(match[1]) * (unitMs[(match[2] ?? "s").toLowerCase()] ?? Number.NaN));
  if (!(milliseconds <= maxDurationMs)) throw invalidField(field, expected, text);
  return milliseconds;
}

/** A duration for messages: the largest unit that shows it exactly, such as `500 ms`, `1.5 s`, `2 min`, `1 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds !== 0 && milliseconds % 3_600_000 === 0) return `${milliseconds / 3_600_000} h`;
  if (milliseconds !== 0 && milliseconds % 60_000 === 0) return `${milliseconds / 60_000} min`;
  if (milliseconds >= 1000 || milliseconds === 0) return `${Number((milliseconds / 1000).toFixed(3))} s`;
  return `${milliseconds} ms`;
}
