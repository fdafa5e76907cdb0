import { escapeLine } from "./terminal-escape.ts";

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
