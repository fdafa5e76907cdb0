/** A piece of a line in one style. */
export interface AnsiSpan {
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
