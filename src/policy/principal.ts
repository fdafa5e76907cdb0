/** What the principals of API keys begin with; the key's id follows. */
export const keyPrincipalPrefix = "key:";

/** Form of a key's id. */
export const keyIdForm: RegExp = /^[0-9a-z]{12}$/;

/** The command line's, the library's, and that of the user's token. */
const principal = "local";

/** Whether a request can have that principal: that of this machine's user, or `key:ID`. */
export function isPrincipal(text: string): boolean {
  if (text === principal) return true;
  return text.startsWith(keyPrincipalPrefix) && keyIdForm.test(text.slice(keyPrincipalPrefix.length));
}

/** What such a list consists of, for messages. */
export const principalWords: string = `"${principal}" or "key:ID", with the id of a key as \`glovebox keys list\` shows it`;
