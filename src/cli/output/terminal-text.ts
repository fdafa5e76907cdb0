/** Control characters that a terminal acts on, except newline, tab and carriage return: C0, DEL and C1. */
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** All of those, the other line breaks, and characters that change the order of what is shown (bidi). */
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const lineControls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * The text with the control characters of untrusted output made visible (`\x1b`), so that it cannot move the cursor,
 * change the title, write to the clipboard or answer for the user. Carriage return stays: progress lines use it.
 */
export function escapeControls(text: string): string {
  return text.replace(controls, visible);
}

/**
 * The same for untrusted text within one of our lines, such as a table cell or an error: it cannot end that line, begin
 * another one, or reorder it either.
 */
export function escapeLine(text: string): string {
  return text.replace(lineControls, visible);
}

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const columns = 80;

/**
 * The words in lines of at most 80 columns: the first begins with `first`, the others with `rest`. A word longer than a
 * line is not broken, so that it can be copied.
 */
export function indented(text: string, first: string, rest: string = first): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = rest;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].map(escapeLine);
}

/** Rows under a heading, columns padded to their widest cell; cells cannot break out of their row. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows].map((cells) => cells.map((cell) => escapeLine(cell)));
  const widths = heading.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

function visible(character: string): string {
  const name = named[character];
  if (name !== undefined) return name;
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
}
