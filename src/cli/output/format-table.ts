import { escapeLine } from "./terminal-escape.ts";

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
