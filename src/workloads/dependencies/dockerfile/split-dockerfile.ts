import { badDockerfile } from "./dockerfile-error.ts";

/** One instruction as it is written, on one line. */
export interface Instruction {
  /** In capitals. */
  readonly keyword: string;
  readonly text: string;
  /** Where it begins, from 1. */
  readonly line: number;
}

/**
 * Takes a Dockerfile apart, in one pass over its lines: comments go, lines that end in a backslash go on. Linear in its
 * length, since the text is hostile. @throws INVALID_REQUEST for another escape character and for here-documents
 */
export function splitDockerfile(text: string): readonly Instruction[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  assertBackslash(lines);
  const found: Instruction[] = [];
  let parts: string[] = [];
  let start = 0;
  for (const [index, whole] of lines.entries()) {
    const line = whole.trim();
    // Empty lines and comments between the parts of an instruction do not end it.
    if (line === "" || line.startsWith("#")) continue;
    if (parts.length === 0) start = index + 1;
    const goesOn = line.endsWith("\\");
    // What stands before the rest of an instruction is all that parts it from the word before.
    const part = parts.length === 0 ? line : whole.trimEnd();
    parts.push(goesOn ? part.slice(0, -1) : part);
    if (goesOn) continue;
    found.push(instructionOf(parts.join(""), start));
    parts = [];
  }
  if (parts.length > 0) found.push(instructionOf(parts.join(""), start));
  return found;
}

/** The directives that stand before everything else; that of a frontend says nothing here, since none is ever fetched. */
function assertBackslash(lines: readonly string[]): void {
  for (const [index, line] of lines.entries()) {
    const directive = /^#\s*([A-Za-z]+)\s*=\s*(\S*)/.exec(line.trim().slice(0, 200));
    if (directive === null) return;
    if (directive[1]?.toLowerCase() === "escape" && directive[2] !== "\\") {
      throw badDockerfile(index + 1, "another escape character than the backslash is not supported");
    }
  }
}

function instructionOf(whole: string, line: number): Instruction {
  const end = whole.search(/\s/);
  const keyword = (end === -1 ? whole : whole.slice(0, end)).toUpperCase();
  const text = end === -1 ? "" : whole.slice(end).trim();
  if (["RUN", "COPY", "ADD"].includes(keyword) && /(?<!<)<<-?["']?[A-Za-z_]/.test(text)) {
    throw badDockerfile(line, "here-documents are not supported; write a script into the project and run it");
  }
  return { keyword, text, line };
}
