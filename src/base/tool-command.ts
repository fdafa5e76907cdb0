/** What `cmd.exe` reads as nothing but letters. */
const plainWord = /^[\w@.:/=-]+$/;

/**
 * File and arguments that start a tool of the host's by its name, such as npm. On Windows many are scripts, which only a shell
 * starts, and a shell reads more into a word than it says: there the words must be plain.
 * @throws Error for a word that is not plain, on Windows
 */
export function toolCommand(
  program: string,
  args: readonly string[],
  platform: NodeJS.Platform,
): readonly [file: string, args: readonly string[]] {
  if (platform !== "win32") return [program, args];
  const odd = [program, ...args].find((word) => !plainWord.test(word));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} is no word that cmd.exe can be given.`);
  return ["cmd.exe", ["/d", "/s", "/c", program, ...args]];
}
