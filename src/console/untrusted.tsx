import type { VNode } from "preact";

/** A name, a message or the like that an untrusted program chose. */
export function Untrusted({ text, max = 2_000 }: { readonly text: string; readonly max?: number }): VNode {
  const shown = text.length > max ? text.slice(0, max) : text;
  return (
    <bdi class="untrusted">
      {marked(shown)}
      {shown.length < text.length && <span class="mark">+{text.length - shown.length} characters</span>}
    </bdi>
  );
}

/** Lines of a program's output, in its colours. */
export function UntrustedOutput({ text }: { readonly text: string }): VNode {
  return (
    <bdi class="untrusted">
      {ansiSpans(text).map(({ text: part, style }, index) => (
        <span key={index} class={style}>
          {marked(part)}
        </span>
      ))}
    </bdi>
  );
}

function marked(text: string): (VNode | string)[] {
  return visibleParts(text).map(({ text: part, isMark }, index) =>
    isMark ? (
      <span key={index} class="mark">
        {part}
      </span>
    ) : (
      part
    ),
  );
}

/** A piece of a line in one style. */
interface AnsiSpan {
  readonly text: string;
  /** Classes of the style sheet; empty: the text's own style. */
  readonly style: string;
}

/**
 * Terminal sequences, whole or cut off at the line's end: CSI, OSC and the like with their text, and single escapes. Each
 * alternative goes on where the one before it ends, so that a line is read in one pass.
 */
const sequence =
  // oxlint-disable-next-line no-control-regex -- these are what it looks for
  /\u001b(?:\[([0-?]*)[ -/]*([@-~]?)|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~]?)/g;

const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** Spans of one line; what has more is shown in the last one's style. */
const maxSpans = 400;

interface Style {
  readonly colour: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const plain: Style = { colour: "", isBold: false, isDim: false };

/** A line's text with its colours and weights; every other terminal sequence is left out. */
export function ansiSpans(line: string): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let style = plain;
  let end = 0;
  const add = (text: string): void => {
    if (text !== "") spans.push({ text, style: classesOf(style) });
  };
  for (const match of line.matchAll(sequence)) {
    if (spans.length >= maxSpans) break;
    add(line.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[2] === "m") style = styleAfter(style, match[1] ?? "");
  }
  add(line.slice(end).replaceAll(sequence, ""));
  return spans;
}

function styleAfter(style: Style, parameters: string): Style {
  const codes = parameters.split(";").slice(0, 16).map(Number);
  let next = style;
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    if (code === 0) next = plain;
    else if (code === 1) next = { ...next, isBold: true };
    else if (code === 2) next = { ...next, isDim: true };
    else if (code === 22) next = { ...next, isBold: false, isDim: false };
    else if (code === 39) next = { ...next, colour: "" };
    else if (code >= 30 && code <= 37) next = { ...next, colour: colours[code - 30] ?? "" };
    else if (code >= 90 && code <= 97) next = { ...next, colour: colours[code - 90] ?? "" };
    // Of larger palettes the numbers that follow are skipped: they would be read as styles.
    else if (code === 38 || code === 48) index += codes[index + 1] === 5 ? 2 : 4;
  }
  return next;
}

function classesOf({ colour, isBold, isDim }: Style): string {
  return [...(colour === "" ? [] : [`ansi-${colour}`]), ...(isBold ? ["bold"] : []), ...(isDim ? ["dim"] : [])].join(
    " ",
  );
}

/** A part of a text: as it is, or the name of a character that must have no effect. */
interface TextPart {
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
