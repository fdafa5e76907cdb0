/** A part of a text: as it is, or the name of a character that must have no effect. */
export interface TextPart {
  readonly text: string;
  readonly isMark: boolean;
}

/**
 * Control characters, and what turns, joins or hides the text around it (bidirectional marks, zero-width characters, tags,
 * line separators). Tabs and line ends are left.
 */
const acting =
  // oxlint-disable-next-line no-control-regex -- these are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Marks of one text: what has more is binary, and is shown without them. */
const maxMarks = 200;

/** Parts of a text that an untrusted program wrote, in which nothing is hidden and nothing acts. */
export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(acting)) {
    if (parts.length >= 2 * maxMarks) break;
    if (index > end) parts.push({ text: text.slice(end, index), isMark: false });
    parts.push({ text: nameOf(character), isMark: true });
    end = index + character.length;
  }
  const rest = text.slice(end).replaceAll(acting, "\u{fffd}");
  return rest === "" ? parts : [...parts, { text: rest, isMark: false }];
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
