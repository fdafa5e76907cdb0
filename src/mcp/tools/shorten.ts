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
  /** Characters of the output of a program; default: as of any text. */
  readonly stream?: number;
}

/** Fields that hold what a program wrote. */
const streams: ReadonlySet<string> = new Set(["stdout", "stderr", "stdout_tail", "stderr_tail", "output", "logs"]);

/** Share of a text's room that goes to its beginning; the rest goes to its end. */
const headShare = 0.6;
/** Below it nothing is shortened further. */
const minText = 100;

/** A response whose long texts keep their head and tail, and whose long lists keep their first items. */
export function shorten(
  value: unknown,
  { total, text, stream = text }: ShortenLimits,
): { readonly value: unknown; readonly cuts: readonly Cut[] } {
  for (let room = text; ; room = Math.floor(room / 2)) {
    const cuts: Cut[] = [];
    const shortened = shortenPart(value, "", { room, stream: Math.min(room, stream) }, cuts);
    if (room < minText || JSON.stringify(shortened).length <= total) return { value: shortened, cuts };
  }
}

interface Rooms {
  readonly room: number;
  readonly stream: number;
}

function shortenPart(value: unknown, field: string, rooms: Rooms, cuts: Cut[]): unknown {
  const { room } = rooms;
  if (typeof value === "string") return shortenText(value, field, streams.has(field) ? rooms.stream : room, cuts);
  if (Array.isArray(value)) {
    const kept = Math.max(1, Math.floor(room / 10));
    if (value.length > kept) {
      const whole = JSON.stringify(value, null, 1);
      cuts.push({ field, unit: "items", kept, total: value.length, whole, mediaType: null });
    }
    return value.slice(0, kept).map((item, index) => shortenPart(item, `${field}[${index}]`, rooms, cuts));
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => {
    const path = field === "" ? key : `${field}.${key}`;
    return [key, shortenPart(part, path, rooms, cuts)];
  });
  return Object.fromEntries(entries);
}

function shortenText(text: string, field: string, room: number, cuts: Cut[]): string {
  if (text.length <= room) return text;
  // For a tail, the end matters.
  const share = field.endsWith("_tail") ? 0 : headShare;
  const headEnd = wholeCharacters(text, Math.floor(room * share));
  const tailStart = wholeCharacters(text, text.length - Math.floor(room * (1 - share)));
  const left = tailStart - headEnd;
  const kept = text.length - left;
  cuts.push({ field, unit: "characters", kept, total: text.length, whole: text, mediaType: null });
  return `${text.slice(0, headEnd)}\n[... ${left} characters left out ...]\n${text.slice(tailStart)}`;
}

/** The index, or the one before it if it would split a surrogate pair. */
function wholeCharacters(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before <= 0xdbff ? index - 1 : index;
}
