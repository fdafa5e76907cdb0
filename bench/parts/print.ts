import type { Column, Measured } from "./report.ts";

/** A figure as people read it; a dash for none. */
export function figure(value: number | null | undefined, { digits = 0 }: Pick<Column, "digits">): string {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

/** The figures as a table of plain text. */
export function tableOf({ columns, rows, leftOut }: Measured): string {
  const head = ["", ...columns.map(({ title }) => title)];
  const body = rows.map(({ name, values }) => [name, ...columns.map((column) => figure(values[column.key], column))]);
  const widths = head.map((_, index) => Math.max(...[head, ...body].map((cells) => (cells[index] ?? "").length)));
  const lines = [head, ...body].map((cells) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, ...leftOut.map(({ name, reason }) => `${name}: left out, ${reason}`)].join("\n");
}
