/** What is ours in a request: no program is given it. */
export interface OwnCredentials {
  /** Whether a text shows an API key, the user's token or a ticket: plain, percent-encoded or within base64. */
  isShownIn(text: string): boolean;
  /** Whether a host, with or without a port, is that of a preview: its name alone opens it. */
  isPreview(host: string): boolean;
}

/** A whole API key (`src/keys/key-record.ts`) or one that was cut, and a ticket (`src/http/authentication.ts`). */
const ownForms = /gbx_[0-9a-z]{12}_[\w-]{16}|tkt-[0-9a-z]{20}/i;
/** Short enough that no credential hides in a word that is not looked at. */
const encodedWord = /[\w+/-]{24,}/g;

/** A check for those forms, and for these tokens, which have none of their own. */
export function credentialCheck(tokens: readonly string[]): OwnCredentials["isShownIn"] {
  const isPlain = (text: string): boolean => ownForms.test(text) || tokens.some((token) => text.includes(token));
  return (text) => {
    const plain = percentDecoded(text);
    if (isPlain(text) || isPlain(plain)) return true;
    // What stands before it in its word may shift where groups of four begin.
    return (plain.match(encodedWord) ?? []).some((word) =>
      [0, 1, 2, 3].some((shift) => isPlain(Buffer.from(word.slice(shift), "base64").toString("latin1"))),
    );
  };
}

/** Each byte that is escaped as its character, once; what is malformed stays. */
export function percentDecoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
