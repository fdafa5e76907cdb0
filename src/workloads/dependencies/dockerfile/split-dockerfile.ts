import { badDockerfile } from "./dockerfile-error.ts";

/** One instruction as written, joined into one line. */
export interface Instruction {
  /** In upper case. */
  readonly keyword: string;
  readonly text: string;
  /** Line where it begins, from 1. */
  readonly line: number;
}

/**
 * Splits a Dockerfile in one pass over its lines: comments are removed, lines that end in a backslash are joined.
 * Linear in its length, since the text is untrusted. @throws INVALID_REQUEST for another escape character and for
 * here-documents
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
    // All white space before the rest of an instruction separates it from the keyword.
    const part = parts.length === 0 ? line : whole.trimEnd();
    parts.push(goesOn ? part.slice(0, -1) : part);
    if (goesOn) continue;
    found.push(instructionOf(parts.join(""), start));
    parts = [];
  }
  if (parts.length > 0) found.push(instructionOf(parts.join(""), start));
  return found;
}

/** The directives at the top of the file; one that names a frontend is ignored, since none is ever fetched. */
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
