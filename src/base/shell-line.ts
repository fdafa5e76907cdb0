import { shellQuoted } from "./shell-quoted.ts";

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
