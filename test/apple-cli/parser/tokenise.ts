/** A word of a call as the parser sees it before it knows the command's options. */
export type Token =
  | { readonly kind: "value"; readonly word: string }
  | { readonly kind: "long"; readonly name: string; readonly joined: string | undefined }
  | { readonly kind: "short"; readonly letters: string; readonly joined: string | undefined }
  | { readonly kind: "terminator" };

/** A word that cannot be an option anywhere before `--`. */
export class InvalidOption extends Error {
  override readonly name = "InvalidOption";
}

/** What one word is, regardless of the words around it. */
function tokenOf(word: string): Token {
  if (word === "--") return { kind: "terminator" };
  if (!word.startsWith("-") || word === "-") return { kind: "value", word };
  if (word.startsWith("---") || word.startsWith("-=")) throw new InvalidOption(`Invalid option: ${word}`);
  const isLong = word.startsWith("--");
  const body = word.slice(isLong ? 2 : 1);
  const equals = body.indexOf("=");
  const name = equals < 0 ? body : body.slice(0, equals);
  // An empty text after the equals sign is not a value.
  const joined = equals < 0 || equals === body.length - 1 ? undefined : body.slice(equals + 1);
  return isLong ? { kind: "long", name: `--${name}`, joined } : { kind: "short", letters: name, joined };
}

/**
 * Splits the words of a call; after a `--` everything is a value.
 * @throws InvalidOption also for a word that is meant for the program in the container
 */
export function tokenise(words: readonly string[]): readonly Token[] {
  const end = words.indexOf("--");
  const before = end < 0 ? words : words.slice(0, end + 1);
  const behind = end < 0 ? [] : words.slice(end + 1);
  return [...before.map(tokenOf), ...behind.map((word) => ({ kind: "value", word }) as const)];
}
