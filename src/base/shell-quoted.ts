/** A text as one word of a POSIX shell; within single quotes nothing has a meaning but their end. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
