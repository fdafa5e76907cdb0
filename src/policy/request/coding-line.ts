import type { Language } from "../language.ts";

const pattern = /^[ \t\f]*#.*?coding[:=][ \t]*([\w.-]{1,40})/;

/** Only the first two lines count, and they are short. */
const headCharacters = 2000;

/** The encoding that a Python program names in its first two lines (PEP 263), as it is written there; null if none. */
export function codingLine(program: string): string | null {
  const [first = "", second = ""] = program.slice(0, headCharacters).split(/\r\n?|\n/, 2);
  const isSecondRead = /^\uFEFF?[ \t\f]*(?:#|$)/.test(first);
  return (pattern.exec(first) ?? (isSecondRead ? pattern.exec(second) : null))?.[1] ?? null;
}

/**
 * A warning for a Python program whose coding line names another encoding than UTF-8, which every program is written in:
 * Python obeys the line, and shows other characters than the program's author. None where all characters are ASCII.
 */
export function codingNotices(code: string, language: Language): readonly string[] {
  const named = language === "python" ? codingLine(code) : null;
  if (named === null || /^utf[-_]?8(?:[-_]|$)/i.test(named) || /^[\0-\x7f]*$/.test(code)) return [];
  return [
    `Python reads the program's characters beyond ASCII as ${named}, because its coding line says so, but the program is in UTF-8. Let the line say utf-8.`,
  ];
}
