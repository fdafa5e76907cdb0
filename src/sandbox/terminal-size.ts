import type { TerminalSize } from "../engines/engine.ts";

/** The kernel keeps them in 16 bits; nobody has that many. */
const most = 4096;
const usual: TerminalSize = { columns: 80, rows: 24 };

/** A size that every terminal accepts: invalid numbers are replaced with those of an ordinary one. */
export function sensibleSize({ columns, rows }: TerminalSize): TerminalSize {
  return { columns: sensible(columns, usual.columns), rows: sensible(rows, usual.rows) };
}

function sensible(value: number, instead: number): number {
  return Number.isInteger(value) && value >= 1 && value <= most ? value : instead;
}
