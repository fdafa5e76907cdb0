import type { ShortenedField } from "../../calls/kept-texts.ts";

/** What was left out of one field. */
export interface Cut extends ShortenedField {
  readonly unit: "characters" | "items";
  readonly kept: number;
  readonly total: number;
}

export interface ShortenLimits {
  /** Characters of the whole value as JSON. */
  readonly total: number;
  /** Characters of one text, and a tenth of it items of one list; smaller where the total demands it. */
  readonly text: number;
}

/** Share of a text's room that goes to its beginning; the rest goes to its end. */
const headShare = 0.6;
/** Under it nothing is cut any more. */
const minText = 100;

/** A response whose long texts keep their head and tail, and whose long lists keep their first items. */
export function shorten(
  value: unknown,
  { total, text }: ShortenLimits,
): { readonly value: unknown; readonly cuts: readonly Cut[] } {
  for (let room = text; ; room = Math.floor(room / 2)) {
    const cuts: Cut[] = [];
    const shortened = shortenPart(value, "", room, cuts);
    if (room < minText || JSON.stringify(shortened).length <= total) return { value: shortened, cuts };
  }
}

function shortenPart(value: unknown, field: string, room: number, cuts: Cut[]): unknown {
  if (typeof value === "string") return shortenText(value, field, room, cuts);
  if (Array.isArray(value)) {
    const kept = Math.max(1, Math.floor(room / 10));
    if (value.length > kept) {
      const whole = JSON.stringify(value, null, 1);
      cuts.push({ field, unit: "items", kept, total: value.length, whole, mediaType: null });
    }
    return value.slice(0, kept).map((item, index) => shortenPart(item, `${field}[${index}]`, room, cuts));
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => {
    const path = field === "" ? key : `${field}.${key}`;
    if (typeof part === "string" && isBase64(value, key)) return [key, leaveOut(part, path, value, room, cuts)];
    return [key, shortenPart(part, path, room, cuts)];
  });
  return Object.fromEntries(entries);
}

function shortenText(text: string, field: string, room: number, cuts: Cut[]): string {
  if (text.length <= room) return text;
  const headEnd = wholeCharacters(text, Math.floor(room * headShare));
  const tailStart = wholeCharacters(text, text.length - Math.floor(room * (1 - headShare)));
  const left = tailStart - headEnd;
  const kept = text.length - left;
  cuts.push({ field, unit: "characters", kept, total: text.length, whole: text, mediaType: null });
  return `${text.slice(0, headEnd)}\n[... ${left} characters left out ...]\n${text.slice(tailStart)}`;
}

/** Half of some base64 is of no use: it is all there or not at all. */
function leaveOut(base64: string, field: string, owner: object, room: number, cuts: Cut[]): string {
  if (base64.length <= room) return base64;
  const { media_type: mediaType } = owner as { readonly media_type?: unknown };
  const type = typeof mediaType === "string" ? mediaType : "application/octet-stream";
  cuts.push({ field, unit: "characters", kept: 0, total: base64.length, whole: base64, mediaType: type });
  return "";
}

function isBase64(owner: object, key: string): boolean {
  return key === "content" && (owner as { readonly encoding?: unknown }).encoding === "base64";
}

/** The index, or the one before it where it would part a surrogate pair. */
function wholeCharacters(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before <= 0xdbff ? index - 1 : index;
}
