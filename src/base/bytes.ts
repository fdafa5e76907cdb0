import { invalidField } from "../errors/glovebox-error.ts";

/** Bytes in a KiB. */
export const kibibyte = 1024;
/** Bytes in a MiB, which is what the wire calls MB. */
export const mebibyte = 1_048_576;
/** Bytes in a GiB, which is what the wire calls GB. */
export const gibibyte = 1_073_741_824;

const unitBytes: Readonly<Record<string, number>> = { b: 1, k: kibibyte, m: mebibyte, g: gibibyte };

const shownUnits = [
  ["GiB", gibibyte],
  ["MiB", mebibyte],
  ["KiB", kibibyte],
  ["bytes", 1],
] as const;

const expected = 'a size such as "512m", "1.5g", "1GiB", "2048k", "100b", or a number of megabytes such as "512"';

/**
 * Bytes of a size as people write it; units are binary (`k` = `KB` = `KiB` = 1024 bytes), and a bare number is
 * megabytes, as in the wire's `memory_mb`.
 * @throws INVALID_REQUEST naming the field, with examples
 */
export function parseBytes(text: string, field: string): number {
  const match = /^(\d{1,16}(?:\.\d{1,9})?) ?(?:(b)|([kmg])(?:i?b)?)?$/i.exec(text.trim());
  if (match === null) throw invalidField(field, expected, text);
  const unit = (match[2] ?? match[3] ?? "m").toLowerCase();
  const bytes = Math.round(Number(match[1]) * (unitBytes[unit] ?? Number.NaN));
  if (!Number.isSafeInteger(bytes)) throw invalidField(field, expected, text);
  return bytes;
}

/** A size for messages in the largest binary unit that it fills, with at most two decimals, such as `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  const [name, size] = shownUnits.find(([, size]) => bytes >= size) ?? shownUnits[3];
  return `${Number((bytes / size).toFixed(2))} ${name}`;
}
