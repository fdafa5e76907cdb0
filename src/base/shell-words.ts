/** A text as one word of a POSIX shell; within single quotes nothing has a meaning but their end. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What a shell takes as it stands, unless it is the first word. */
const plain = /^[\w@%+=:,./-]+$/;
/** First words that mean something else to a shell than a program: assignments and reserved words. */
const special = /=|^(?:case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while)$/;

/** A program and its arguments as a shell line; the shell takes each word literally. */
export function wordsAsShellLine(words: readonly string[]): string {
  return words
    .map((word, index) => (plain.test(word) && !(index === 0 && special.test(word)) ? word : shellQuoted(word)))
    .join(" ");
}

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
