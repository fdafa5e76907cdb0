import { invalidField } from "../../errors/glovebox-error.ts";

/** Longest shell line. */
const maxLine = 65_536;

/** A request's shell line, checked. @throws INVALID_REQUEST naming the field */
export function checkShellLine(line: string, field: string, minLength: number): string {
  if (line.trim().length >= minLength && line.length <= maxLine && !line.includes("\0")) return line;
  const shown = line.length > 100 ? `${line.length} characters` : line;
  throw invalidField(field, `a shell line of at most ${maxLine} characters without NUL`, shown);
}
