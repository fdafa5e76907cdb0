/** A single argument is a shell line already; several are a program and its arguments, taken literally. */
export function toShellLine(command: readonly string[]): string {
  if (command.length === 1) return command[0] ?? "";
  return command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
