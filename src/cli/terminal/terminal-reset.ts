/** Off by default in a terminal, and without effect on the cursor's position. */
const usuallyOff = [1, 5, 9, 12, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026];
/** Resetting them moves the cursor, or they may have been on before: only for a program that has set them. */
const onlyIfSet: ReadonlySet<number> = new Set([6, 47, 1034, 1047, 1048, 1049]);

/**
 * Restores a terminal after anything that `TerminalFilter` lets through, whichever of it the program has used:
 * character sets, keypad, insertion, modes, scroll region, cursor and colours. What is on the screen stays.
 */
export function terminalReset(set: ReadonlySet<number>): string {
  const left = [...set].filter((mode) => onlyIfSet.has(mode));
  return [
    "\u000f\u001b(B\u001b)B\u001b>\u001b[4l",
    ...left.map((mode) => `\u001b[?${mode}l`),
    `\u001b[?${usuallyOff.join(";")}l\u001b[?7;25h`,
    // Resetting the region moves the cursor.
    "\u001b7\u001b[r\u001b8",
    "\u001b[0 q\u001b[0m",
  ].join("");
}
